# What a camera or a video file shows, as Motion JPEG: OpenCV reads it, zerorun codes it.
# SPDX-License-Identifier: MIT
"""usage: python camera.py OUTPUT.mjpeg [--source 0 | FILE] [--frames 250]     (needs opencv-python)"""
import argparse

import cv2
import zerorun


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("output")
    parser.add_argument("--source", default="0", help="a camera's number, or a file")
    parser.add_argument("--frames", type=int, default=250)
    parser.add_argument("--quality", type=int, default=90)
    options = parser.parse_args()
    capture = cv2.VideoCapture(int(options.source) if options.source.isdigit() else options.source)
    if not capture.isOpened():
        raise SystemExit(f"camera: {options.source} cannot be opened")
    fps = round(capture.get(cv2.CAP_PROP_FPS) or 25)
    with zerorun.VideoWriter(options.output, fps, quality=options.quality) as video:
        for _ in range(options.frames):
            there_is_one, frame = capture.read()  # a new array each time: frames are coded later
            if not there_is_one:
                break
            video.write(frame, format="bgr24")
    print(f"{video.frames} frames in {options.output}")


if __name__ == "__main__":
    main()
