# Runs the program, and a GStreamer pipeline, once for each `operator new` of zerorun's code, which fails. The
# program has to end with exit code 1, one sentence and no half file, or well with the right bytes; a pipeline with
# an error or well with the right bytes. It runs in run_pipeline.cpp, which says why not in gst-launch-1.0.
#
#   allocations.py --program P [--plugin FOLDER --pipelines R] --fail-new SO [--sample N] [--minutes M] [--state FILE]
#                  [--only WORD]
#
# SPDX-License-Identifier: MIT
import os
import shutil
import subprocess
import sys

from faults import make_y4m, require, run_all


def pipeline(caps, *settings):
    return ["videotestsrc", "num-buffers=3", "!", f"video/x-raw,width=64,height=48,{caps}", "!", "zerorunenc", "device=cpu",
            *settings, "!", "zerorundec", "device=cpu", "!", "filesink", "location=out.yuv"]


PIPELINES = {
    "gstreamer": pipeline("format=I420"),
    "gstreamer-rate": pipeline("format=YUY2,colorimetry=bt709,framerate=25/1", "bitrate=200000"),  # converts samples, too
}


class Command:
    """A command line that writes `output`, in a folder of its own."""

    def __init__(self, bench, name, words, output):
        self.bench, self.name, self.words, self.output = bench, name, words, output
        self.is_pipeline = words[0] == bench.pipelines
        self.run()  # GStreamer looks for its plugins once
        code, text, self.files, self.count = self.run()
        self.text = text
        require(code == 0, f"{name} fails without a fault: {text}")
        require(self.count > 10 and self.files, f"{name}: the failing operator new was not loaded")

    def run(self, at=0, lasting=False):
        out, log = self.bench.folder / "out", self.bench.folder / "log"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        log.unlink(missing_ok=True)
        variables = {**os.environ, "LD_PRELOAD": self.bench.fail_new, "ZERORUN_FAULT_AT": str(at),
                     "ZERORUN_FAULT_LASTING": str(int(lasting)), "ZERORUN_FAULT_LOG": str(log),
                     "GST_PLUGIN_PATH": self.bench.plugin, "GST_REGISTRY": str(self.bench.folder / "registry"),
                     "GST_REGISTRY_FORK": "no"}
        done = subprocess.run(self.words, capture_output=True, cwd=out, env=variables, timeout=60)
        files = {p.name: p.read_bytes() for p in sorted(out.iterdir()) if p.is_file()}
        count = int(log.read_text()) if log.exists() else 0
        return done.returncode, done.stderr.decode(), files, count

    def faults(self):
        for at in range(1, self.count + 1):
            for lasting in (False, True):
                yield f"{self.name}/{at}{'-for-ever' if lasting else ''}", (at, lasting)

    def check(self, fault):
        code, text, files, _ = self.run(*fault)
        require(code >= 0, f"ended by signal {-code}: {text}")
        if code == 0:
            require(files == self.files, "exit code 0, but the output differs")
            return
        lines = [line for line in text.splitlines() if line and not line.startswith(("terminate called", "  what()"))]
        require(code == 1, f"exit code {code} instead of 1: {text}")
        if self.is_pipeline:
            require(text.startswith("ERROR: "), f"no sentence: {text!r}")
            return
        # Before it a run may have warned, or reported what it did, as it does without a fault.
        said = [line for line in lines if line.startswith("zerorun: ") and line not in self.text.splitlines()]
        kinds = {line.split()[0] for line in self.text.splitlines() if line}
        require(said == lines[-1:] and all(line.split()[0] in kinds for line in lines if line not in said),
                f"no single sentence: {text!r}")
        half = [name for name in files if files[name] != self.files.get(name) and not name.endswith(".part")]
        require(not half, f"not whole: {half}")


class Bench:
    def __init__(self, options, folder):
        self.folder, self.fail_new = folder, os.path.abspath(options.fail_new)
        self.plugin = os.path.abspath(options.plugin) if options.plugin else ""
        self.pipelines = os.path.abspath(options.pipelines) if options.pipelines else ""
        program = os.path.abspath(options.program)
        self.program = program
        y4m, mjpeg = self.folder / "in.y4m", self.folder / "in.mjpeg"
        make_y4m(y4m, frames=2)
        plainly = ["--device", "cpu", "--threads", "1"]
        subprocess.run([program, "encode", y4m, "-o", mjpeg, *plainly], check=True, capture_output=True)
        self.words = {
            "encode": ([program, "encode", y4m, "-o", "out.mjpeg", *plainly], "out.mjpeg"),
            "decode": ([program, "decode", mjpeg, "-o", "out.y4m", *plainly], "out.y4m"),
            "png": ([program, "decode", mjpeg, "-o", "%d.png", *plainly], "1.png"),
            "mov": ([program, "copy", mjpeg, "-o", "out.mov"], "out.mov"),
        }
        version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
        if "+ffmpeg" not in version:
            self.words.pop("mov")
        if self.plugin and self.pipelines:
            self.words.update({name: ([self.pipelines, *words], "out.yuv") for name, words in PIPELINES.items()})

    def cases(self, only):
        for name, (words, output) in self.words.items():
            if only in name:
                yield Command(self, name, words, output)


def cases(options, folder):
    return Bench(options, folder).cases(options.only)


if __name__ == "__main__":
    sys.exit(run_all(cases, "fail-new", optional=("plugin", "pipelines")))
