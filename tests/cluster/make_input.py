# Writes a YUV4MPEG2 file: make_input.py FILE WIDTH HEIGHT FRAMES
# SPDX-License-Identifier: MIT
import random
import sys

path, width, height, frames = sys.argv[1], *map(int, sys.argv[2:5])
noise = random.Random(1).randbytes(3 * width * height)
ramp = bytes((x // 3 + y // 2) & 0x7F for y in range(height) for x in range(width))
base = bytes(a + (b >> 3) for a, b in zip(ramp, noise))
with open(path, "wb") as out:
    out.write(f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL\n".encode())
    for frame in range(frames):
        shift = frame * 37 % len(base)
        out.write(b"FRAME\n" + base[shift:] + base[:shift])
        chroma = width * height // 4
        out.write(noise[frame:frame + chroma] + noise[2 * frame:2 * frame + chroma])
