# Runs the program once for each call that opens, writes, renames or closes, and lets that call fail or sends a
# signal there. Afterwards exit code, files and stderr have to be right, and what was left has to play.
#
#   faults.py --program P --interposer SO [--sample N] [--minutes M] [--state FILE] [--only WORD]
#
# SPDX-License-Identifier: MIT
import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

FRAMES = 60
SIGNALS = {"KILL": -9, "INT": 130, "TERM": 143}
# How each kind of call may fail. EINTR and a short transfer are no errors where they happen once. A call that
# EINTR ends for ever (a broken file system; no signals come so fast) has to be an error at last, not a loop.
FAILURES = {
    "write": ["ENOSPC", "EIO", "EPIPE", "EINTR", "short"],
    "fwrite": ["ENOSPC", "EIO", "EINTR"],
    "read": ["EIO", "EINTR", "short"],
    "fsync": ["ENOSPC", "EIO", "EINTR"],
    "rename": ["ENOSPC", "EIO", "EACCES", "EINTR"],
    "open": ["ENOSPC", "EIO", "EMFILE", "EACCES", "EINTR"],
    "mmap": ["ENOMEM", "EINTR"],
    "close": ["ENOSPC", "EIO", "EINTR"],
    "truncate": ["ENOSPC", "EIO", "EINTR"],
    "allocate": ["ENOSPC", "EIO", "EINTR"],
}
HARMLESS = ("EINTR", "short")
OUTPUTS = ["out.csv", "out.y4m", "%03d.png", "%03d.jpg", *(f"out.{kind}" for kind in ("mjpeg", "mov", "mkv", "avi", "mp4"))]

# `side`: whose calls fail, the outputs' or the inputs'. `old`: a file of the output's name is there before.
Case = collections.namedtuple("Case", "name arguments output kind side old", defaults=["out", None])
Fault = collections.namedtuple("Fault", "at call how lasting")


class Wrong(Exception):
    pass


def require(holds, sentence):
    if not holds:
        raise Wrong(sentence)


def make_y4m(path, width=48, height=32, frames=FRAMES):
    with open(path, "wb") as out:
        out.write(f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL\n".encode())
        for frame in range(frames):
            noise = random.Random(frame).randbytes(width * height * 3 // 2)
            out.write(b"FRAME\n" + bytes((i // 7 + 5 * frame + (n >> 5)) & 255 for i, n in enumerate(noise)))


class Bench:
    """Inputs, cases, and the runs of one program."""

    def __init__(self, program, interposer, folder):
        self.program, self.interposer, self.folder = program, interposer, folder
        self.inputs = self.folder / "in"
        self.inputs.mkdir()
        self.lists = {}  # of the frames in files that were seen before, by their contents
        make_y4m(self.inputs / "in.y4m")
        make_y4m(self.inputs / "few.y4m", frames=12)
        version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
        self.has_containers = "+ffmpeg" in version and shutil.which("ffmpeg") is not None
        self.cases = list(self.make_cases())

    def make_cases(self):
        y4m, few = self.inputs / "in.y4m", self.inputs / "few.y4m"
        kinds = ["mjpeg"] + (["mov", "mkv", "avi", "mp4"] if self.has_containers else [])
        for kind in kinds:
            yield Case(f"encode-{kind}", ["encode", y4m, "-o", f"out.{kind}"], f"out.{kind}", "packets")
        self.run_plainly(["encode", y4m, "-o", self.inputs / "a.mjpeg"])
        yield Case("decode-y4m", ["decode", self.inputs / "a.mjpeg", "-o", "out.y4m"], "out.y4m", "bytes")
        yield Case("decode-png", ["decode", few, "-o", "%03d.png"], "%03d.png", "pictures")
        yield Case("encode-jpg", ["encode", few, "-o", "%03d.jpg"], "%03d.jpg", "pictures")
        yield Case("encode-stdout", ["encode", few, "-o", "-"], "-", "stdout")
        yield Case("encode-stats", ["encode", few, "-o", "out.mjpeg", "--stats", "out.csv"], "out.mjpeg", "packets")
        yield Case("shard", ["encode", few, "-o", "out.mjpeg", "--shard", "0/2"], "out.mjpeg", "shard")
        for number in range(2):
            self.run_plainly(["encode", few, "-o", self.inputs / "set.mjpeg", "--shard", f"{number}/2"])
        yield Case("concat-shards", ["concat", self.inputs / "set.mjpeg", "-o", "out.mjpeg"], "out.mjpeg", "packets")
        yield Case("read-y4m", ["encode", few, "-o", "out.mjpeg"], "out.mjpeg", "packets", "in")
        self.run_plainly(["decode", few, "-o", self.inputs / "%03d.png"])
        yield Case("read-png", ["encode", self.inputs / "%03d.png", "-o", "out.mjpeg"], "out.mjpeg", "packets", "in")
        if not self.has_containers:
            return
        self.run_plainly(["encode", few, "-o", self.inputs / "b.mov"])
        yield Case("overwrite-mov", ["encode", few, "-o", "out.mov"], "out.mov", "packets", "out", b"an older file")
        for kind, name in (("mov", "b.mov"), ("avi", "b.avi"), ("mkv", "b.mkv")):
            if kind != "mov":
                self.run_plainly(["copy", self.inputs / "b.mov", "-o", self.inputs / name])
            yield Case(f"read-{kind}", ["copy", self.inputs / name, "-o", "out.mjpeg"], "out.mjpeg", "packets", "in")
        yield Case("copy-mov", ["copy", self.inputs / "a.mjpeg", "-o", "out.mov", "--fps", "25"], "out.mov", "packets")
        yield Case("copy-jpg", ["copy", self.inputs / "b.mov", "-o", "%03d.jpg"], "%03d.jpg", "pictures")
        yield Case("concat-mkv", ["concat", self.inputs / "b.mov", self.inputs / "b.mov", "-o", "out.mkv"], "out.mkv",
                   "packets")

    def run_plainly(self, arguments):
        subprocess.run([self.program, *map(str, arguments), *self.options(arguments)], check=True,
                       capture_output=True, cwd=self.inputs)

    @staticmethod
    def options(arguments):
        return ["--threads", "1", "--device", "cpu"] if arguments[0] in ("encode", "decode") else []

    def run(self, case, fault=None):
        """Exit code, stdout, stderr, the files in the folder of outputs, and the calls that were counted."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        variables = {**os.environ, "LD_PRELOAD": self.interposer, "ZERORUN_FAULT_FOLDER": str(self.folder / case.side),
                     "ZERORUN_FAULT_LOG": str(log)}
        if fault:
            variables.update(ZERORUN_FAULT_AT=str(fault.at), ZERORUN_FAULT_HOW=fault.how,
                             ZERORUN_FAULT_LASTING=str(int(fault.lasting)))
        words = [str(out / word) if word in OUTPUTS else str(word) for word in case.arguments]
        if case.old is not None:
            (out / case.output).write_bytes(case.old)
            words.append("-y")
        done = subprocess.run([self.program, *words, *self.options(case.arguments)], capture_output=True, cwd=out,
                              env=variables, timeout=60)
        files = {str(p.relative_to(out)): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()}
        calls = log.read_text().split() if log.exists() else []
        return done.returncode, done.stdout, done.stderr.decode(), files, calls

    def frames(self, name, data):
        """The frames of a file as FFmpeg finds them, by their hashes; it may not complain."""
        key = (name, hashlib.sha1(data).hexdigest())
        if key not in self.lists:
            file = self.folder / "seen"
            file.write_bytes(data)
            kind = {"mjpeg": "mjpeg", "mkv": "matroska"}.get(pathlib.Path(name).suffix[1:], pathlib.Path(name).suffix[1:])
            done = subprocess.run(["ffmpeg", "-v", "warning", "-f", kind, "-i", file, "-map", "0:v", "-c", "copy", "-f",
                                   "framemd5", "-"], capture_output=True, text=True)
            complaints = done.stderr.replace(str(file), name).strip()
            lines = [line.split(",")[-1].strip() for line in done.stdout.splitlines() if not line.startswith("#")]
            self.lists[key] = (lines, complaints)
        return self.lists[key]


class Judge:
    """What has to be true after a run of `case` with a fault."""

    def __init__(self, bench, case):
        self.bench, self.case = bench, case
        code, self.stdout, text, self.files, self.calls = bench.run(case)
        require(code == 0, f"{case.name} fails without a fault: {text}")
        if case.kind == "packets" and bench.has_containers:
            self.frames, complaints = bench.frames(case.output, self.files[case.output])
            require(len(self.frames) >= 12 and not complaints, f"{case.name}: {complaints}")

    def faults(self):
        """Every call with every failure, once and for ever; every write with every signal."""
        for at, call in enumerate(self.calls, 1):
            ways = [(how, False) for how in FAILURES[call]]
            ways += [(how, True) for how in FAILURES[call]]
            ways += [(how, False) for how in SIGNALS if call in ("write", "fwrite")]
            for how, lasting in ways:
                if how != "ENOSPC" or self.case.side == "out":  # no input fails so
                    name = f"{self.case.name}/{at}/{call}/{how}{'-for-ever' if lasting else ''}"
                    yield name, Fault(at, call, how, lasting)

    def check(self, fault):
        code, stdout, text, files, calls = self.bench.run(self.case, fault)
        require(len(calls) >= fault.at, "the call was not reached")
        fault = fault._replace(call=calls[fault.at - 1])  # threads may change the order of the calls
        if self.case.old is not None and code not in (0, 130, 143):
            require(files.pop(self.case.output, None) == self.case.old, "the file that was there before is lost")
        if fault.how in SIGNALS:
            self.check_signal(fault, code, stdout, text, files)
        elif fault.how in HARMLESS and fault.call in ("write", "read") and (fault.how, fault.lasting) != ("EINTR", True):
            require(code == 0, f"exit code {code} for a {fault.how} {fault.call}: {text}")
            self.check_complete(stdout, files)
        elif code == 0:
            self.check_complete(stdout, files)
        else:
            self.check_failure(fault, code, text, files)

    def check_complete(self, stdout, files):
        require(stdout == self.stdout, "exit code 0, but stdout differs")
        require(files.keys() == self.files.keys(), f"exit code 0, but the files are {sorted(files)}")
        for name, data in self.files.items():
            if not name.endswith((".csv", ".json")):  # times of the run
                require(files[name] == data, f"exit code 0, but {name} differs")

    def check_failure(self, fault, code, text, files):
        wanted = 4 if self.case.side == "out" else 3
        require(code == wanted, f"exit code {code} instead of {wanted}: {text}")
        lines = [line for line in text.splitlines() if line]
        require(len(lines) == 1 and lines[0].startswith("zerorun: "), f"no single sentence: {text!r}")
        if fault.lasting and fault.how in ("ENOSPC", "EIO", "EACCES", "EINTR") and fault.call == "write":
            reason = {"ENOSPC": "No space left", "EIO": "Input/output error", "EINTR": "Interrupted"}.get(fault.how, "")
            require(reason in text, f"the reason is not told: {text!r}")
        self.check_left(files, allow_part=fault.how == "ENOSPC" or "kept" in text)

    def check_signal(self, fault, code, stdout, text, files):
        wanted = SIGNALS[fault.how]
        if self.case.kind == "shard" and code == 75:
            return self.check_left(files, allow_part=False)  # --resume goes on there
        require(code in (wanted, 0) if fault.how != "KILL" else code == wanted, f"exit code {code}: {text}")
        if code == 0:
            return self.check_complete(stdout, files)
        return self.check_left(files, allow_part=fault.how == "KILL", is_end_written=fault.how != "KILL")

    def check_left(self, files, allow_part, is_end_written=False):
        """No half file under a final name; what is left in NAME.part plays."""
        kind = self.case.kind
        for name, data in files.items():
            if kind == "shard" or name.endswith((".csv", ".json", ".csv.part", ".json.part")):
                continue  # --resume checks shards; see shards_test.py
            if name.endswith(".part"):
                require(allow_part, f"{name} is left")
                if kind == "packets":
                    self.check_plays(name[:-len(".part")], data)
            elif kind in ("pictures", "bytes") and not (kind == "bytes" and is_end_written):
                require(data == self.files.get(name), f"{name} has its final name and is not whole")
            elif kind == "bytes":
                require(self.files[name].startswith(data), f"{name} is no beginning of what was asked for")
            elif kind == "packets" and data != self.files.get(name):
                require(is_end_written, f"{name} has its final name and is not whole")
                self.check_plays(name, data, is_whole=True)

    def check_plays(self, name, data, is_whole=False):
        """FFmpeg finds the frames that are in the file, in order, and has no complaint: at most one frame is lost."""
        if not self.bench.has_containers:
            return
        written = self.whole_packets(data)
        if not written:
            return
        frames, complaints = self.bench.frames(name, data)
        require(len(frames) >= written - (0 if is_whole else 1), f"{len(frames)} of {written} frames play: {complaints}")
        whole = [a == b for a, b in zip(frames, self.frames)]
        require(all(whole[:written]), f"a frame differs: {whole}")
        require(len(frames) <= written + 1, f"{len(frames)} frames play, {written} were written")
        require(not (is_whole and complaints), f"FFmpeg complains: {complaints}")

    def whole_packets(self, data):
        """How many packets of the whole output lie in `data`, which is told without a parser."""
        if not hasattr(self, "packets"):
            whole, self.packets, at = self.files[self.case.output], [], 0
            while (at := whole.find(b"\xff\xd8\xff", at)) >= 0:
                end = whole.index(b"\xff\xd9", at) + 2
                self.packets.append(whole[at:end])
                at = end
        at = count = 0
        for packet in self.packets:
            at = data.find(packet, at)
            if at < 0:
                break
            at += len(packet)
            count += 1
        return count


def load(state):
    file = pathlib.Path(state) if state else None
    return dict(json.loads(line) for line in file.read_text().splitlines()) if file and file.exists() else {}


def run_cases(cases, options):
    """Checks every fault of every case that options.state does not have yet; returns the exit code."""
    done = load(options.state)
    todo = ((name, case, fault) for case in cases for name, fault in case.faults() if name not in done)
    if options.sample:  # spread over all cases, always the same
        todo = list(todo)
        todo = sorted(random.Random(1).sample(todo, min(options.sample, len(todo))), key=lambda one: one[0])
    end = time.monotonic() + 60 * options.minutes
    log = open(options.state, "a") if options.state else None
    is_complete = True
    for name, case, fault in todo:
        if time.monotonic() > end:
            is_complete = False
            break
        try:
            case.check(fault)
            done[name] = ""
        except (Wrong, subprocess.TimeoutExpired) as problem:
            done[name] = str(problem)
            print(f"{name}: {problem}", flush=True)
        if log:
            log.write(json.dumps([name, done[name]]) + "\n")
            log.flush()
    wrong = sum(1 for problem in done.values() if problem)
    print(f"{len(done)} runs, {wrong} wrong{'' if is_complete else ', not all yet'}")
    return 1 if wrong or not done else 0 if is_complete else 3


def run_all(make_cases, *required, optional=()):
    """Reads the options, and runs the cases that make_cases(options, folder) makes in a folder of their own."""
    parser = argparse.ArgumentParser()
    for name in ("program", *required):
        parser.add_argument("--" + name, required=True)
    for name in ("state", "only", *optional):
        parser.add_argument("--" + name, default="")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1e9)
    options = parser.parse_args()
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="zerorun-faults-", dir=fast) as folder:
        return run_cases(make_cases(options, pathlib.Path(folder)), options)


def cases(options, folder):
    bench = Bench(os.path.abspath(options.program), os.path.abspath(options.interposer), folder)
    return (Judge(bench, case) for case in bench.cases if options.only in case.name)


if __name__ == "__main__":
    sys.exit(run_all(cases, "interposer"))
