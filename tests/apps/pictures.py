# Pictures byte by byte: PNG, segments of JPEG, EXIF, and the pixels of PPM files.
# SPDX-License-Identifier: MIT
import pathlib
import struct
import zlib


def png(width, height, rows, chunks=(), depth=8, colour=2):
    """`rows` begin with their filters; chunks of (kind, data) stand before them."""
    head = struct.pack(">2I5B", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in (
            (b"IHDR", head), *chunks, (b"IDAT", zlib.compress(rows)), (b"IEND", b"")))


def segment(marker, payload):
    return bytes([0xFF, marker]) + struct.pack(">H", len(payload) + 2) + payload


def with_segments(jpeg, *segments, at=2):
    return jpeg[:at] + b"".join(segments) + jpeg[at:]


def exif_of(orientation):
    """Of one entry, for --exif and, behind "Exif" and two zeros, for APP1."""
    return b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0" + bytes([orientation]) + bytes(7)


def ppm_pixels(data):
    """Rows of RGB tuples of a P6 file."""
    fields = data.split(maxsplit=4)
    width, height = int(fields[1]), int(fields[2])
    body = data[len(data) - 3 * width * height:]
    pixels = list(zip(body[0::3], body[1::3], body[2::3]))
    return [pixels[y * width:(y + 1) * width] for y in range(height)]


def turned(rows, orientation):
    """What a viewer shows, by the definition of Exif 2.32, 4.6.4."""
    if orientation in (2, 3, 7, 8):
        rows = [row[::-1] for row in rows]
    if orientation in (3, 4, 6, 7):
        rows = rows[::-1]
    return [list(column) for column in zip(*rows)] if orientation >= 5 else rows


def quarters(path, width=48, height=32):
    """A picture whose four corners have four colours."""
    colours = (b"\xe0\x20\x20", b"\x20\xe0\x20", b"\x20\x20\xe0", b"\xe0\xe0\x20")
    rows = b"".join(b"".join(colours[2 * (2 * y >= height) + (2 * x >= width)] for x in range(width)) for y in range(height))
    pathlib.Path(path).write_bytes(f"P6\n{width} {height}\n255\n".encode() + rows)
    return str(path)
