# Tries the installed Python package with a picture and a video, and prints what it is.
# SPDX-License-Identifier: MIT
import os
import platform
import tempfile

import numpy
import zerorun

across, down = numpy.meshgrid(numpy.arange(64), numpy.arange(48))
picture = numpy.stack([4 * across, 5 * down, 2 * (across + down)], axis=-1).astype(numpy.uint8)


def check_close(decoded):
    difference = numpy.abs(decoded.astype(int) - picture)
    if decoded.shape != picture.shape or difference.mean() > 4:
        raise SystemExit(f"the decoded picture differs: {decoded.shape}, {difference.mean():.1f} on average")


jpeg = zerorun.encode(picture, quality=95)
if not jpeg.startswith(b"\xff\xd8") or not jpeg.endswith(b"\xff\xd9"):
    raise SystemExit("encode() made no JPEG")
check_close(numpy.asarray(zerorun.decode(jpeg)))

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "video.mjpeg")
    with zerorun.VideoWriter(path, fps=25, quality=95) as video:
        for _ in range(3):
            video.write(picture)
    with zerorun.VideoReader(path) as video:
        frames = [numpy.array(frame) for frame in video]
if len(frames) != 3:
    raise SystemExit(f"the video has {len(frames)} frames and not 3")
for frame in frames:
    check_close(frame)

binding = os.path.basename(zerorun._zerorun.__file__)
print(f"zerorun {zerorun.__version__} {'with' if zerorun.built_with_cuda else 'without'} CUDA in "
      f"{platform.python_implementation()} {platform.python_version()} ({binding})")
