# What the preloaded disk (fault_disk.cpp) wrote down: which frames are durable, and what a power cut
# leaves.
# SPDX-License-Identifier: MIT
import collections
import os
import re
import shutil

MOST_FRAMES = 64  # that a kill may cost
MOST_SECONDS = 2.0


class File:
    def __init__(self, size=0):
        self.durable = size
        self.writes = []  # (seconds, end)


class DiskLog:
    """Of one folder; everything in it when the log begins is durable."""
    def __init__(self, path, root, grave):
        self.path, self.root, self.grave = path, root, grave
        self.begin()

    def begin(self):
        open(self.path, "w").close()
        self.at = 0
        self.rest = b""
        self.count = 0
        self.files = collections.defaultdict(File)
        self.names = []  # what happened to names in folders and is not durable
        self.journals_kept = {}
        for folder, _, names in os.walk(self.root):
            for name in names:
                path = os.path.join(folder, name)
                self.files[path] = File(os.path.getsize(path))

    def lines(self):
        """Reads what is new and returns how many lines there are."""
        with open(self.path, "rb") as log:
            log.seek(self.at)
            data = log.read()
        self.at += len(data)
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self.count += 1
            self.take(line.decode())
        return self.count

    def take(self, line):
        stamp, letter, rest = line.split(" ", 2)
        path, number = rest.rsplit(" ", 1)
        seconds, number = int(stamp) / 1e9, int(number)
        if letter == "W":
            file = self.files[path]
            file.durable = min(file.durable, os.path.getsize(path) if os.path.exists(path) else number)
            file.writes.append((seconds, number))
        elif letter == "S":
            file = self.files[path]
            file.durable = max(file.durable, number)
            file.writes = [write for write in file.writes if write[1] > number]
        elif letter == "D":
            self.names = [op for op in self.names if os.path.dirname(op[1]) != path]
        elif letter == "R":
            source, target = path.split(" ")
            self.files[target] = self.files.pop(source, File())
            self.names.append((letter, target, source))
        else:
            self.names.append((letter, path, None))

    def cost(self):
        """Frames and seconds of work whose lines in a journal are not durable."""
        self.lines()
        worst = (0, 0.0)
        for path, file in self.files.items():
            if path.endswith(".journal") and file.writes and os.path.exists(path):
                head = 1 if file.durable == 0 else 0
                frames = len(file.writes) - head
                span = file.writes[-1][0] - file.writes[min(head, frames)][0] if frames else 0.0
                worst = max(worst, (frames, span))
        return worst

    def durable_lines(self, path):
        with open(path, "rb") as journal:
            return journal.read(self.files[path].durable).count(b"\n")

    def cut_power(self, chance):
        """What was not made durable is lost, or not, in the order of the log."""
        self.lines()
        promised = {path: self.durable_lines(path) for path in list(self.files)
                    if path.endswith(".journal") and os.path.exists(path)}
        for letter, path, source in reversed(self.names[chance.randint(0, len(self.names)):]):
            if letter == "C" and os.path.exists(path):
                os.remove(path)
            elif letter == "R" and os.path.exists(path):
                os.rename(path, source)
            elif letter == "U":
                kept = os.path.join(self.grave, os.path.basename(path))
                if not os.path.exists(kept) or os.path.exists(path) or not path.endswith(".journal"):
                    break  # what came before is durable then, too
                shutil.move(kept, path)
        for path, file in self.files.items():
            if os.path.exists(path):
                self.tear(path, file.durable, chance)
        self.begin()
        self.journals_kept = promised

    def tear(self, path, durable, chance):
        size = os.path.getsize(path)
        if durable >= size:
            return
        os.truncate(path, chance.randint(durable, size))
        if chance.random() < 0.3:  # a file that has its size but not its data
            os.truncate(path, size)

    def compare_kept(self, output, shard, shards, text):
        """The resumed run has to have found every frame that was durable before the power cut."""
        stem = f"{shard:03}-of-{max(shards, 1):03}"
        promised = self.journals_kept.get(f"{output}.shards/{stem}.journal", 0) - 1
        found = re.search(r"(\d+) of \d+ frames are there already", text)
        kept = int(found.group(1)) if found else 0
        whole = "nothing is left to do" in text
        if promised > 0 and not whole and kept < promised:
            raise AssertionError(f"{kept} frames of {stem} were kept, but {promised} were durable: {text}")
