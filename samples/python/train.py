# Trains a classifier of pictures on folders of JPEG files, which loader.py decodes ahead.
# SPDX-License-Identifier: MIT
"""usage: python train.py FOLDER [--epochs 5] [--batch 32]

FOLDER has one folder of JPEG files for each class. The model is small, a linear one on 16x16 colours, so
that numpy is enough: what matters is how the pictures come. The last number of a line is the time that
the training waited for pictures.
"""
import argparse
import os
import random
import time

import loader
import numpy as np

SIDE = 16


def features(picture):
    """The mean colours of 16x16 fields, from -1 to 1, as one row."""
    height, width = (max(n // SIDE, 1) for n in picture.shape[:2])
    rows, columns = (np.arange(SIDE) * n // SIDE for n in picture.shape[:2])
    sums = np.add.reduceat(np.add.reduceat(picture, rows, 0, np.uint32), columns, 1)
    counts = np.diff([*rows, picture.shape[0]])[:, None, None] * np.diff([*columns, picture.shape[1]])[:, None]
    return (sums / np.maximum(counts, 1) / 127.5 - 1).ravel().astype(np.float32)


class Classifier:
    """Softmax of a linear map, trained by gradient descent with momentum."""

    def __init__(self, classes):
        self.weights = np.zeros((SIDE * SIDE * 3 + 1, classes), np.float32)
        self.speed = np.zeros_like(self.weights)

    def step(self, inputs, labels, rate=0.02, momentum=0.9):
        """One step on a batch. Returns the sum of the losses and the number of right answers before it."""
        inputs = np.hstack([inputs, np.ones((len(inputs), 1), np.float32)])
        scores = inputs @ self.weights
        chances = np.exp(scores - scores.max(1, keepdims=True))
        chances /= chances.sum(1, keepdims=True)
        own = chances[np.arange(len(labels)), labels]
        right = (scores.argmax(1) == labels).sum()
        chances[np.arange(len(labels)), labels] -= 1
        self.speed = momentum * self.speed - rate * inputs.T @ chances / len(labels)
        self.weights += self.speed
        return -np.log(np.maximum(own, 1e-9)).sum(), right


def train(folder, epochs, batch):
    names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    label_of = {path: label for label, name in enumerate(names)
                for path in loader.jpegs(os.path.join(folder, name))}
    if len(names) < 2 or not label_of:
        raise SystemExit(f"train: {folder} needs a folder of JPEG files for each of two or more classes")
    model, order = Classifier(len(names)), random.Random(1)
    for epoch in range(1, epochs + 1):
        paths = list(label_of)
        order.shuffle(paths)
        loss = right = seen = waited = 0
        begin = before = time.perf_counter()
        for pictures in loader.named_batches(paths, batch, device="cpu"):
            waited += time.perf_counter() - before
            if pictures:
                inputs = np.stack([features(picture) for _, picture in pictures])
                losses, hits = model.step(inputs, np.array([label_of[path] for path, _ in pictures]))
                loss, right, seen = loss + losses, right + hits, seen + len(pictures)
            before = time.perf_counter()
        if not seen:
            raise SystemExit("train: none of the files can be decoded")
        print(f"epoch {epoch}: loss {loss / seen:.3f}, {100 * right / seen:.0f} % right, "
              f"{seen / (time.perf_counter() - begin):.0f} pictures/s, waited {waited * 1e3:.0f} ms")
    return model


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=32)
    options = parser.parse_args()
    train(options.folder, options.epochs, options.batch)


if __name__ == "__main__":
    main()
