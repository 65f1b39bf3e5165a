# A data loader: the JPEG files of a folder as batches of arrays, read and decoded ahead.
# SPDX-License-Identifier: MIT
"""usage: python loader.py FOLDER [--batch 64] [--device cuda]

    for pictures in loader.batches('photos', 64, device='cuda'):
        tensors = [torch.from_dlpack(picture) for picture in pictures]   # no copy
        ...
"""
import argparse
import concurrent.futures
import pathlib
import time

import zerorun


def batches(folder, size, device=None, format="rgb24", ahead=2, readers=8):
    """Yields lists of arrays; on a GPU they are zerorun.DeviceArray. Files that cannot be decoded
    are left out, with a line that says why."""
    paths = sorted(str(path) for path in pathlib.Path(folder).iterdir()
                   if path.suffix.lower() in (".jpg", ".jpeg"))
    chunks = [paths[i:i + size] for i in range(0, len(paths), size)]
    with concurrent.futures.ThreadPoolExecutor(readers) as files, \
            concurrent.futures.ThreadPoolExecutor(1) as decoder:
        def load(chunk):
            return [data for part in
                    [files.submit(read_all, chunk[i::readers]) for i in range(readers)]
                    for data in part.result()]

        def decode(chunk):
            order = [path for i in range(readers) for path in chunk[i::readers]]
            pictures = zerorun.decode_batch(load(chunk), format, device=device)
            for path, picture in zip(order, pictures):
                if isinstance(picture, Exception):
                    print(f"{path}: {picture}")
            return [picture for picture in pictures if not isinstance(picture, Exception)]

        waiting = [decoder.submit(decode, chunk) for chunk in chunks[:ahead]]
        for following in range(ahead, len(chunks) + ahead):
            if not waiting:
                return
            pictures = waiting.pop(0).result()
            if following < len(chunks):
                waiting.append(decoder.submit(decode, chunks[following]))
            yield pictures


def read_all(paths):
    found = []
    for path in paths:
        with open(path, "rb") as file:
            found.append(file.read())
    return found


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--device", help="cpu, cuda, cuda:1; a GPU if there is one")
    options = parser.parse_args()
    begin, count, pixels = time.perf_counter(), 0, 0
    for pictures in batches(options.folder, options.batch, options.device):
        count += len(pictures)  # a training step would go here
        pixels += sum(picture.shape[0] * picture.shape[1] for picture in pictures)
    seconds = time.perf_counter() - begin
    print(f"{count} pictures, {pixels / 1e6:.1f} megapixels, {count / seconds:.0f} pictures/s")


if __name__ == "__main__":
    main()
