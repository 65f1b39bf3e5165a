# The package: what users import.
# SPDX-License-Identifier: MIT
"""JPEG and Motion JPEG on the CPU and on NVIDIA GPUs, with the same bytes on both.

    jpeg = zerorun.encode(array, quality=90)      # (height, width, 3) uint8 -> bytes
    array = zerorun.decode(jpeg)                  # bytes -> (height, width, 3) uint8
    info = zerorun.inspect(jpeg)                  # headers only

`encode`, `decode`          one picture
`transcode`                 a stream coded again without loss: smaller, turned, cut
`Encoder`, `Decoder`        the same for many pictures, with a report
`encode_batch`, `decode_batch`      many pictures of any sizes side by side
`AsyncEncoder`, `AsyncDecoder`      a stream of frames, several in flight
`VideoWriter`, `VideoReader`        Motion JPEG files
`Error`                     every exception; it has a code, a byte offset and a sentence
"""
from ._errors import (ArgumentError, CapacityError, CorruptError, DeviceError, Error, FileError,
                      UnsupportedError)
from ._types import Coded, Component, Device, Report, StreamInfo, VideoInfo
from ._zerorun import (AsyncDecoder, AsyncEncoder, Decoder, Encoder, built_with_cuda,
                       built_with_ffmpeg, decode, decode_batch, devices, encode, encode_batch,
                       inspect, instruction_sets, max_encoded_bytes, release_memory, transcode)
from ._zerorun import version as __version__
from .video import VideoReader, VideoWriter

if built_with_cuda:
    from ._zerorun import DeviceArray  # type: ignore[attr-defined,unused-ignore]

FORMATS = ("gray8", "yuv420p", "yuv422p", "yuv444p", "yuv440p", "yuv411p", "nv12", "nv21",
           "yuyv422", "uyvy422", "rgb24", "bgr24", "rgb0", "bgr0", "0rgb", "0bgr", "cmyk32")
"""The names of the pixel formats. cmyk32 is for decoding of CMYK and YCCK alone."""

__all__ = [
    "ArgumentError", "AsyncDecoder", "AsyncEncoder", "CapacityError", "Coded", "Component",
    "CorruptError", "Decoder", "Device", "DeviceError", "Encoder", "Error", "FORMATS",
    "FileError", "Report", "StreamInfo", "UnsupportedError", "VideoInfo", "VideoReader",
    "VideoWriter", "__version__", "built_with_cuda", "built_with_ffmpeg", "decode",
    "decode_batch", "devices", "encode", "encode_batch", "inspect", "instruction_sets",
    "max_encoded_bytes", "release_memory", "transcode",
]
if built_with_cuda:
    __all__.append("DeviceArray")
