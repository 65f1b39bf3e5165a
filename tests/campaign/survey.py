# Gathers JPEG files from folders, archives and packages (tar, zip, deb), by content, for `tests/campaign.sh --survey`.
#
#   survey.py FOLDER FILE_OR_FOLDER...
#
# A file counts if it begins with SOI and a marker, whatever its name and however it goes on. What lies within other files (PDF,
# thumbnails of Exif) counts if markers lead from SOI by a frame and a scan to EOI. FOLDER/files gets each once, as SHA256.jpg;
# FOLDER/list.tsv has a line for each: hash, bytes, kind, package, path in it and offset. A later call adds to both.
# SPDX-License-Identifier: MIT
import bz2
import collections
import gzip
import hashlib
import io
import lzma
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile

MOST_BYTES, MOST_UNPACKED = 1 << 30, 1 << 32  # of a file within an archive, of a compressed one
UNPACK = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
FRAMES = {0xC0: "baseline", 0xC1: "extended", 0xC2: "progressive", 0xC3: "lossless", 0xC9: "arithmetic", 0xCA: "arithmetic"}
NEXT_MARKER = re.compile(rb"\xff+[^\x00\xff\xd0-\xd7]", re.DOTALL)  # behind a scan's data
SOI = re.compile(rb"\xff\xd8\xff[\xc0-\xfe]")


def walk(data, at):
    """The kind of the stream that begins at this offset, and where its EOI ends; None if it has none."""
    kind, at, has_scan = "no frame", at + 2, False
    while data[at:at + 1] == b"\xff" and at + 4 <= len(data):
        marker, size = data[at + 1], int.from_bytes(data[at + 2:at + 4], "big")
        if marker == 0xFF:
            at += 1
            continue
        if marker < 0xC0 or 0xD0 <= marker <= 0xD9:
            break
        if marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC) and kind == "no frame" and at + 10 <= len(data):
            kind = f"{FRAMES.get(marker, 'hierarchical')}, {data[at + 4]} bits, {data[at + 9]} components"
        at += 2 + size
        if marker == 0xDA and kind != "no frame":
            has_scan, behind = True, NEXT_MARKER.search(data, at)
            at = behind.end() - 2 if behind else len(data)
    return kind, at + 2 if has_scan and data[at:at + 2] == b"\xff\xd9" else None


def streams(data):
    """Offset, bytes and kind of each JPEG file that this file is or holds."""
    for found in SOI.finditer(data):
        at = found.start()
        kind, end = walk(data, at)
        if at == 0 or end:
            yield at, bytes(data[at:end if at else None]), kind


def contents(name, data):
    """Name and bytes of a file; if it is an archive or compressed, of those in it, at any depth."""
    unpack = UNPACK.get(data[:2]) or UNPACK.get(data[:3]) or UNPACK.get(data[:6])
    try:
        if data[:4] == b"PK\3\4":
            inner = of_zip(data)
        elif data[257:262] == b"ustar":
            inner = of_tar(io.BytesIO(data), "r:")
        elif unpack:
            inner = [("", unpack(io.BytesIO(data)).read(MOST_UNPACKED))]
        else:
            yield name, data
            inner = ()
        for member, bytes_ in inner:
            yield from contents(f"{name}/{member}".strip("/"), bytes_)
    except Exception as error:  # a damaged archive makes the libraries raise nearly anything
        print(f"{name}: {error}", file=sys.stderr)


def of_zip(data):
    archive = zipfile.ZipFile(io.BytesIO(data))
    return ((member.filename, archive.read(member)) for member in archive.infolist()
            if 0 < member.file_size <= MOST_BYTES and not member.flag_bits & 1)


def of_tar(file, mode):
    with tarfile.open(fileobj=file, mode=mode) as archive:
        for member in archive:
            if member.isfile() and 0 < member.size <= MOST_BYTES:
                yield member.name, archive.extractfile(member).read()


def package(path):
    """Name and bytes of all that a file on disk holds."""
    if path.suffix in (".deb", ".udeb"):
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", path], stdout=subprocess.PIPE) as child:
            for name, data in of_tar(child.stdout, "r|"):
                yield from contents(name, data)
    else:
        yield from contents("", path.read_bytes())


def main(folder, *sources):
    files, listing = pathlib.Path(folder) / "files", pathlib.Path(folder) / "list.tsv"
    files.mkdir(parents=True, exist_ok=True)
    kinds = collections.Counter()
    with listing.open("a", buffering=1) as lines:
        for source in map(pathlib.Path, sources):
            for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
                for name, data in package(path) if path.is_file() else ():
                    for at, jpeg, kind in streams(data):
                        digest = hashlib.sha256(jpeg).hexdigest()
                        file = files / f"{digest}.jpg"
                        if not file.exists():
                            file.write_bytes(jpeg)
                            kinds[kind.split(",")[0]] += 1
                            where = re.sub(r"[\t\n]", " ", name) + (f"+{at}" if at else "")
                            print(digest, len(jpeg), kind, path.name, where, sep="\t", file=lines)
    print(f"{sum(kinds.values())} new files: {', '.join(f'{count} {kind}' for kind, count in kinds.most_common())}")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 2 else "usage: survey.py FOLDER FILE_OR_FOLDER...")
