# A data loader: the JPEG files of a folder as batches of arrays, read and decoded ahead.
# SPDX-License-Identifier: MIT
"""usage: python loader.py FOLDER [--batch 64] [--device cuda]

    for pictures in loader.batches('photos', 64, device='cuda'):
        tensors = [torch.from_dlpack(picture) for picture in pictures]   # no copy
        ...

train.py has a training loop that is fed so.
"""
import argparse
import concurrent.futures
import os
import time

import zerorun


def jpegs(folder):
    """The paths of the JPEG files in a folder, sorted."""
    return sorted(entry.path for entry in os.scandir(folder)
                  if entry.name.lower().endswith((".jpg", ".jpeg")))


def named_batches(paths, size, device=None, format="rgb24", ahead=2):
    """Yields lists of (path, array); on a GPU the arrays are zerorun.DeviceArray. Files that cannot be
    decoded are left out, with a line that says why. While the caller works on a batch, a thread decodes
    the next ones, `ahead` at most."""
    chunks = [paths[i:i + size] for i in range(0, len(paths), size)]

    def decode(chunk):
        pictures = zerorun.decode_batch(chunk, format, device=device)  # reads the files, too
        for path, picture in zip(chunk, pictures):
            if isinstance(picture, Exception):
                print(f"{path}: {picture}")
        return [pair for pair in zip(chunk, pictures) if not isinstance(pair[1], Exception)]

    with concurrent.futures.ThreadPoolExecutor(1) as decoder:
        waiting = [decoder.submit(decode, chunk) for chunk in chunks[:ahead]]
        for following in range(ahead, len(chunks) + ahead):
            if not waiting:
                return
            pictures = waiting.pop(0).result()
            if following < len(chunks):
                waiting.append(decoder.submit(decode, chunks[following]))
            yield pictures


def batches(folder, size, device=None, format="rgb24", ahead=2):
    """As named_batches(), of all JPEG files in a folder and without their paths."""
    for batch in named_batches(jpegs(folder), size, device, format, ahead):
        yield [picture for _, picture in batch]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--device", help="cpu, cuda, cuda:1; a GPU if there is one")
    options = parser.parse_args()
    begin, count, pixels = time.perf_counter(), 0, 0
    for pictures in batches(options.folder, options.batch, options.device):
        count += len(pictures)  # a training step would go here; train.py has one
        pixels += sum(picture.shape[0] * picture.shape[1] for picture in pictures)
    seconds = time.perf_counter() - begin
    print(f"{count} pictures, {pixels / 1e6:.1f} megapixels, {count / seconds:.0f} pictures/s")


if __name__ == "__main__":
    main()
