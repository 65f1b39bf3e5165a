# What the preloaded disk (fault_disk.cpp) wrote down: which frames are durable, and what a power cut
# leaves.
# SPDX-License-Identifier: MIT
import collections
import json
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
            file.durable = min(file.durable, number)  # it is written from here on
            file.writes.append((seconds, number))
        elif letter == "S":
            self.files[path].durable = max(self.files[path].durable, number)
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
                frames = len(self.journal(path)[1]) - self.durable_frames(path)
                times = [seconds for seconds, _ in file.writes[-frames:]] if frames else [0.0]
                worst = max(worst, (frames, times[-1] - times[0]))
        return worst

    def journal(self, path, size=-1):
        """The head and the whole lines of a journal, or of its first bytes."""
        with open(path, "rb") as file:
            lines = file.read(size).split(b"\n")[:-1]
        return (json.loads(lines[0]) if lines else None), lines[1:]

    def durable_frames(self, path):
        """How many frames have a durable line, and durable bytes before that."""
        head, lines = self.journal(path, self.files[path].durable)
        data = [p for p in self.files if p.startswith(path[:-len("journal")])
                and p.removesuffix(".part").endswith((".mjpeg", ".frames"))]
        end = 0
        for count, line in enumerate(lines):
            size = json.loads(line.rsplit(b" ", 1)[0])[0]
            end += size
            if head["kind"] != "pictures":
                if max((self.files[p].durable for p in data), default=0) < end:
                    return count
            elif not self.is_durable_picture(path, head, count, size):
                return count
        return len(lines)

    def is_durable_picture(self, journal, head, count, size):
        first, _, step = head["span"]
        number = head["start_number"] + first + count * step
        path = os.path.join(os.path.dirname(os.path.dirname(journal)), head["output"] % number)
        return self.files[path].durable >= size and all(op[1] != path for op in self.names)

    def cut_power(self, chance):
        """What was not made durable is lost, or not, in the order of the log."""
        self.lines()
        promised = {path: self.durable_frames(path) for path in list(self.files)
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
        kept = {path: self.tear(path, file.durable, chance)
                for path, file in self.files.items() if os.path.exists(path)}
        self.begin()
        for path, size in kept.items():  # what lies behind is no data, until it is written again
            self.files[path].durable = size
        self.journals_kept = promised

    def tear(self, path, durable, chance):
        """Returns how many bytes are left."""
        size = os.path.getsize(path)
        if durable >= size:
            return size
        left = chance.randint(durable, size)
        os.truncate(path, left)
        if chance.random() < 0.3:  # a file that has its size but not its data
            os.truncate(path, size)
        return left

    def compare_kept(self, output, shard, shards, text):
        """The resumed run has to have found every frame that was durable before the power cut."""
        stem = f"{shard:03}-of-{max(shards, 1):03}"
        promised = self.journals_kept.get(f"{output}.shards/{stem}.journal", 0)
        found = re.search(r"(\d+) of \d+ frames are there already", text)
        kept = int(found.group(1)) if found else 0
        whole = "nothing is left to do" in text
        if promised > 0 and not whole and kept < promised:
            raise AssertionError(f"{kept} frames of {stem} were kept, but {promised} were durable: {text}")
