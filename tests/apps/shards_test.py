# Shards, resume, concat and verify: the result is that of one run, whatever happened on the way.
# SPDX-License-Identifier: MIT
import fcntl
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time

from support import PRETENDING_PROGRAM, PROGRAM, ProgramTest, make_y4m, needs_containers

FRAMES = 41


class ShardTest(ProgramTest):
    def folder(self, name):
        return name + ".shards"

    def make_shards(self, source, output, count, *options, verb="encode", which=None):
        for index in which if which is not None else range(count):
            self.zerorun(verb, source, "-o", output, "--shard", f"{index}/{count}", "--device",
                         "cpu", "--threads", "1", *options)

    def assert_same_file(self, first, second):
        one, two = (self.read(name) for name in (first, second))
        self.assertEqual(len(one), len(two), f"{first} and {second}")
        self.assertTrue(one == two, f"{first} and {second} differ")


class Joining(ShardTest):
    def test_ranges_of_a_render_manager_interleave(self):
        source = make_y4m("in.y4m", frames=FRAMES)
        self.encode(source, "-o", "one.mjpeg")
        for text in ("0:20:2", "1:20:2", "20:30", "30:999"):
            self.encode(source, "-o", "out.mjpeg", "--range", text)
        self.zerorun("concat", "out.mjpeg")
        self.assert_same_file("one.mjpeg", "out.mjpeg")

    def test_shards_of_a_part_of_the_input(self):
        source = make_y4m("in.y4m", frames=FRAMES)
        self.encode(source, "-o", "one.mjpeg", "--frames", "7:30")
        self.make_shards(source, "out.mjpeg", 4, "--frames", "7:30")
        self.zerorun("concat", "out.mjpeg", "--audio", source, "--delete-shards")
        self.assert_same_file("one.mjpeg", "out.mjpeg")
        self.assertFalse(list(self.dir.glob("out.mjpeg.*")))

    def test_every_pattern_of_one_run_is_one_of_shards(self):
        source = make_y4m("in.y4m")
        for pattern in ("x.####.jpg", "50%_%04d.jpg", "%04i.jpg", "a%%b%d.jpg"):
            with self.subTest(pattern=pattern):
                for name in ("one", "out"):
                    shutil.rmtree(name, ignore_errors=True)
                    os.mkdir(name)
                self.encode(source, "-o", "one/" + pattern)
                self.make_shards(source, "out/" + pattern, 2)
                self.zerorun("concat", "out/" + pattern, "--delete-shards")
                names = sorted(os.listdir("one"))
                self.assertEqual(names, sorted(os.listdir("out")))
                for name in names:
                    self.assert_same_file("one/" + name, "out/" + name)

    def test_the_scheduler_names_the_shard(self):
        source = make_y4m("in.y4m")
        slurm = {"SLURM_ARRAY_TASK_ID": "6", "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_MIN": "5"}
        self.encode(source, "-o", "out.mjpeg", "--shard", "auto", env={**os.environ, **slurm})
        self.assertTrue(os.path.exists("out.mjpeg.shards/001-of-003.json"))
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "OMPI", "PMI"))}
        done = self.encode(source, "-o", "out.mjpeg", "--shard", "auto", code=2, env=clean)
        self.assert_sentence(done, "--shard auto", "SLURM_ARRAY_TASK_ID")

    @needs_containers
    def test_files_of_one_size_are_joined(self):
        source = make_y4m("in.y4m", frames=12)
        for name, frames in (("a.mov", "0:5"), ("b.avi", "5:9"), ("c.mjpeg", "9:12")):
            self.encode(source, "-o", name, "--frames", frames)
        self.encode(source, "-o", "one.mkv")
        self.zerorun("concat", "a.mov", "b.avi", "c.mjpeg", "-o", "out.mkv")
        self.assert_same_file("one.mkv", "out.mkv")
        self.encode(make_y4m("other.y4m", width=32), "-o", "d.mov")
        done = self.zerorun("concat", "a.mov", "d.mov", "-o", "bad.mov", code=3)
        self.assert_sentence(done, "d.mov", "32x48", "64x48")
        self.assert_nothing_left("bad.mov")


class Faults(ShardTest):
    def setUp(self):
        super().setUp()
        self.source = make_y4m("in.y4m", frames=FRAMES)
        self.out = "out.mjpeg"
        self.make_shards(self.source, self.out, 4)

    def concat(self, *words, code=3, options=()):
        self.assert_sentence(self.zerorun("concat", self.out, *options, code=code), *words)
        self.assert_nothing_left("out.mjpeg")

    def shard(self, name):
        return os.path.join(self.folder("out.mjpeg"), name)

    def test_a_missing_shard_is_named_or_held(self):
        os.remove(self.shard("002-of-004.json"))
        self.concat("shard 002-of-004 is missing", "frames 21 to 30")
        self.assertIn("10 missing frames", self.zerorun("concat", self.out, "--allow-missing").stderr.decode())
        self.assertEqual(self.read(self.out).count(b"\xff\xd8\xff"), FRAMES)

    def test_a_doubled_frame_is_named(self):
        self.encode(self.source, "-o", self.out, "--range", "20:22")
        self.concat("frame 20", "shard 001-of-004", "shard frames-00000020-00000022")

    def test_a_torn_shard_is_named(self):
        path = self.shard("001-of-004.mjpeg")
        data = bytearray(self.read(path))
        data[len(data) // 2] ^= 1
        self.write(path, data)
        self.concat("shard 001-of-004", "torn")
        self.zerorun("verify", self.folder("out.mjpeg"), code=6)
        done = self.encode(self.source, "-o", self.out, "--shard", "1/4", "--resume")
        self.assertIn("is made again", done.stderr.decode())
        self.zerorun("verify", self.folder("out.mjpeg"))
        self.write(path, data + b"x")
        self.concat("shard 001-of-004", "bytes instead of")

    def test_shards_of_other_parameters_or_input_are_not_mixed_in(self):
        self.make_shards(self.source, self.out, 4, "-q", "50", "-y", which=[3])
        self.concat("shard 003-of-004", "different runs")
        done = self.encode(self.source, "-o", self.out, "--shard", "3/4", "--resume")
        self.assertIn("another --quality", done.stderr.decode())
        self.zerorun("concat", self.out)
        os.remove(self.out)
        os.utime(self.source, (1, 1))
        done = self.encode(self.source, "-o", self.out, "--shard", "3/4", "--resume")
        self.assertIn("another input", done.stderr.decode())
        self.concat("different runs")

    def test_shards_that_are_deleted_lose_their_name_first(self):
        left = self.folder("out.mjpeg") + ".joined"  # as a run leaves it that is killed then
        os.makedirs(left + "/half")
        self.zerorun("concat", self.out, "--delete-shards")
        self.assertFalse(os.path.exists(left))
        self.assertFalse(os.path.exists(self.folder("out.mjpeg")))

    def test_whole_shards_are_kept_and_not_overwritten(self):
        before = os.stat(self.shard("000-of-004.mjpeg"))
        done = self.encode(self.source, "-o", self.out, "--shard", "0/4", "--resume")
        self.assertIn("nothing is left to do", done.stderr.decode())
        after = os.stat(self.shard("000-of-004.mjpeg"))
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))
        done = self.encode(self.source, "-o", self.out, "--shard", "0/4", code=4)
        self.assert_sentence(done, "shard 000-of-004", "--resume")

    def test_a_whole_run_keeps_a_file_that_is_not_its_own(self):
        y4m, out = make_y4m("in.y4m", frames=5), "own.mjpeg"
        self.encode(y4m, "-o", "whole.mjpeg")
        # As a run leaves it that was killed before it joined its frames.
        self.make_shards(y4m, out, 1)
        self.write(out, b"precious")
        self.assertIn(b"own.mjpeg", self.encode(y4m, "-o", out, "--resume", code=4).stderr)
        self.assertEqual(self.read(out), b"precious")
        # The same bytes are those of a run that was killed behind the join.
        shutil.copy("whole.mjpeg", out)
        self.encode(y4m, "-o", out, "--resume")
        self.assertFalse(os.path.exists(out + ".shards"))
        self.assert_same_file("whole.mjpeg", "own.mjpeg")

    def test_a_whole_run_that_was_killed_amid_its_join_goes_on(self):
        y4m, out = make_y4m("in.y4m", frames=5), "cut.mjpeg"
        self.encode(y4m, "-o", "whole.mjpeg")
        self.make_shards(y4m, out, 1)
        for name in ("000-of-001-joined.mjpeg.part", "000-of-001-joined.mjpeg"):
            pathlib.Path(out + ".shards", name).write_bytes(b"half of a frame")
        others = pathlib.Path(out + ".part")  # perhaps of a run that is at work
        others.write_bytes(b"precious")
        self.encode(y4m, "-o", out, "--resume")
        self.assert_same_file("whole.mjpeg", "cut.mjpeg")
        self.assertFalse(os.path.exists(out + ".shards"))
        self.assertEqual(others.read_bytes(), b"precious")

    def test_a_signal_amid_the_join_of_a_whole_run_is_resumable(self):
        y4m, out = make_y4m("in.y4m", 16, 16, frames=4000), "cut.mjpeg"
        self.encode(y4m, "-o", "whole.mjpeg")
        joined = pathlib.Path(out + ".shards", "000-of-001-joined.mjpeg.part")
        for _ in range(50):  # a process may have joined all before the signal comes
            self.make_shards(y4m, out, 1)
            process = subprocess.Popen([PROGRAM, "encode", y4m, "-o", out, "-y", "--resume", "--device", "cpu"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            while process.poll() is None and not joined.exists():
                time.sleep(0.0005)
            process.send_signal(signal.SIGTERM)
            text = process.communicate()[1].decode()
            self.assertIn(process.returncode, (0, 75, 143), text)
            if process.returncode == 75:
                break
        self.assertEqual(process.returncode, 75)
        self.assertIn("4000 of 4000 frames are on the disk; the same command with --resume", text)
        self.encode(y4m, "-o", out, "-y", "--resume")
        self.assert_same_file("whole.mjpeg", "cut.mjpeg")

    def test_a_whole_run_among_shards_is_refused_at_once(self):
        y4m, out = make_y4m("in.y4m", frames=5), "some.mjpeg"
        self.make_shards(y4m, out, 4, which=[1])
        kept = sorted(os.listdir(out + ".shards"))
        done = self.encode(y4m, "-o", out, "--resume", code=4)
        self.assertIn(b"concat", done.stderr)
        self.assertNotIn(b"frames,", done.stderr)
        self.assertEqual(sorted(os.listdir(out + ".shards")), kept)

    def test_a_folder_on_another_file_system_is_refused_at_once(self):
        other = pathlib.Path("/dev/shm")
        if not os.access(other, os.W_OK) or other.stat().st_dev == os.stat(".").st_dev:
            self.skipTest("there is no second file system")
        y4m, out = make_y4m("in.y4m", frames=5), "far.mjpeg"
        with tempfile.TemporaryDirectory(dir=other) as folder:
            os.symlink(folder, out + ".shards")
            self.assert_sentence(self.encode(y4m, "-o", out, "--resume", code=4), "another file system")
            self.assertEqual(os.listdir(folder), [])

    def test_nothing_outside_the_folder_is_followed(self):
        for name in ("000-of-004.mjpeg", "000-of-004.json"):
            file = self.shard(name)
            shutil.move(file, "secret")
            os.symlink(os.path.abspath("secret"), file)
            self.concat("links are not followed")
            for make in (os.mkfifo, os.mkdir):
                os.remove(file)
                make(file)
                self.concat("000-of-004", "not a regular file")
            os.rmdir(file)
            shutil.move("secret", file)
        manifest = self.shard("000-of-004.json")
        text = self.read(manifest)
        self.write(manifest, text.replace(b'"out.mjpeg"', b'"../out.mjpeg"', 1))
        self.concat("shard 000-of-004")
        self.write(manifest, text)
        os.rename(manifest, self.shard("003-of-004.json"))
        self.concat("under another name")

    def test_two_processes_do_not_make_one_shard(self):
        with open(self.shard("000-of-004.journal"), "w") as journal:
            fcntl.flock(journal, fcntl.LOCK_EX)
            done = self.encode(self.source, "-o", self.out, "--shard", "0/4", "-y", code=1)
        self.assert_sentence(done, "another process")

    def test_verify_compares_with_the_manifest(self):
        manifest = "out.json"
        self.zerorun("concat", self.out, "--manifest", manifest)
        self.zerorun("verify", self.out, "--manifest", manifest)
        self.zerorun("verify", self.out, "--parse")
        data = bytearray(self.read(self.out))
        comment = data.index(b"\xff\xdb") + 20  # a quantiser: legal, but other bytes
        data[comment] ^= 1
        self.write(self.out, data)
        self.zerorun("verify", self.out)
        self.assert_sentence(self.zerorun("verify", self.out, "--manifest", manifest, code=6), "out.mjpeg: frame 0")
        self.write(self.out, data[:-30])
        self.zerorun("verify", self.out, code=3)


class Killed(ShardTest):
    """Real processes that are sent a signal; tests/cluster/kills.py kills them at random moments."""
    def start(self, *arguments, **options):
        return subprocess.Popen([PROGRAM, *arguments, "--device", "cpu", "--threads", "1"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)

    def wait_for(self, what, process):
        for _ in range(20000):
            if what() or process.poll() is not None:
                return
            time.sleep(0.001)

    def test_a_signal_with_notice_ends_at_a_frame(self):
        source = make_y4m("in.y4m", 640, 480, frames=120)
        self.encode(source, "-o", "one.mjpeg")
        journal = self.folder("out.mjpeg") + "/000-of-001.journal"
        process = self.start("encode", source, "-o", "out.mjpeg", "--resume")
        self.wait_for(lambda: os.path.exists(journal) and self.read(journal).count(b"\n") > 5, process)
        process.send_signal(signal.SIGTERM)
        text = process.communicate()[1].decode()
        self.assertEqual(process.returncode, 75, text)
        self.assertIn("--resume", text)
        lines = self.read(journal).count(b"\n")
        self.assertGreater(lines, 5)
        done = self.encode(source, "-o", "out.mjpeg", "--resume")
        self.assertIn(f"{lines - 1} of 120 frames are there already", done.stderr.decode())
        self.assert_same_file("one.mjpeg", "out.mjpeg")
        self.assertFalse(os.path.exists(self.folder("out.mjpeg")))

    def test_a_signal_before_the_first_frame_is_resumable(self):
        source = "slow.y4m"
        os.mkfifo(source)
        process = self.start("encode", source, "-o", "out.mjpeg", "--shard", "0/2")
        writer = []

        def is_opened():
            try:
                writer.append(os.open(source, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:  # nobody reads yet
                return False
            return True
        self.wait_for(is_opened, process)
        process.send_signal(signal.SIGTERM)
        text = process.communicate(timeout=300)[1].decode()
        os.close(writer[0])
        self.assertEqual(process.returncode, 75, text)

    def test_what_cannot_be_split_is_refused(self):
        source = make_y4m("in.y4m")
        for arguments in (["-", "-o", "o.mjpeg"], [source, "-o", "-"], [source, "-o", "o.jpg"],
                          [source, "-o", "null:"]):
            self.assert_sentence(self.zerorun("encode", *arguments, "--shard", "0/2", code=2, input=b""), "--shard")


class ManyAndOdd(ShardTest):
    def test_more_shards_than_a_process_may_open_files(self):
        source = make_y4m("in.y4m", 16, 16, frames=70)
        self.encode(source, "-o", "one.mjpeg")
        self.make_shards(source, "out.mjpeg", 64)
        few = 52  # a process that plays, and 32 shards that are open at a time
        self.zerorun("concat", "out.mjpeg", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (few, few)))
        self.assert_same_file("one.mjpeg", "out.mjpeg")

    def test_names_need_not_be_utf8(self):
        source, out = b"in\xff\xe9.y4m", b"out\xfe.mjpeg"
        os.rename(make_y4m("in.y4m"), source)
        for index in (0, 1, 1):
            done = self.encode(source, "-o", out, "--shard", f"{index}/2", "--resume")
        self.assertIn(b"nothing is left to do", done.stderr)
        self.zerorun("concat", out)
        self.encode(source, "-o", "one.mjpeg")
        self.assertEqual(self.read(os.fsdecode(out)), self.read("one.mjpeg"))

    def test_an_input_that_changes_meanwhile_is_named(self):
        source = make_y4m("in.y4m", 640, 480, frames=60)
        command = [PROGRAM, "encode", source, "-o", "out.mjpeg", "--shard", "0/1", "--device", "cpu", "--threads", "1"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        journal = pathlib.Path(self.folder("out.mjpeg"), "000-of-001.journal")
        while process.poll() is None and not (journal.exists() and journal.stat().st_size > 0):
            time.sleep(0.001)
        os.utime(source, (1, 1))
        text = process.communicate()[1].decode()
        self.assertEqual(process.returncode, 3, text)
        self.assertIn("was changed while it was read", text)
        self.assertFalse(journal.with_suffix(".json").exists())
        done = self.encode(source, "-o", "out.mjpeg", "--shard", "0/1", "--resume")
        self.assertIn("begun with another input (time)", done.stderr.decode())
        self.encode(source, "-o", "one.mjpeg")
        self.zerorun("concat", "out.mjpeg")
        self.assert_same_file("one.mjpeg", "out.mjpeg")


class DeviceShards(ShardTest):
    program = PRETENDING_PROGRAM

    def test_workers_of_a_node_share_its_gpus(self):
        """Unless one was named."""
        source = make_y4m("in.y4m", frames=4)
        for variable in ("SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK"):
            for rank, wanted, device in ((0, "cuda", 0), (1, "cuda", 1), (2, "cuda", 2), (3, "cuda", 0), (7, "cuda", 1),
                                         (1, "cuda:2", 2)):
                done = self.zerorun("encode", source, "-o", "out.mjpeg", "--shard", "0/1", "-y", "--device", wanted,
                                    "--progress", "json",
                                    env={**os.environ, "ZERORUN_TEST_DEVICES": "3", variable: str(rank)})
                self.assertIn(f'"cuda:{device} ', done.stderr.decode().splitlines()[-1], (variable, rank))

    def test_a_lost_device_ends_with_5_and_another_one_goes_on(self):
        source, out = make_y4m("in.y4m", frames=FRAMES), "out.mjpeg"
        shard = ("encode", source, "-o", out, "--shard", "0/1", "--resume", "--device", "cuda")
        one = {**os.environ, "ZERORUN_TEST_DEVICES": "1"}
        self.zerorun(*shard, code=5, env={**one, "ZERORUN_TEST_FAILING_DEVICE": "0@20"})
        done = self.zerorun(*shard, env=one)
        self.assertRegex(done.stderr.decode(), f"[1-9][0-9]* of {FRAMES} frames are there already")
        self.zerorun("concat", out)
        self.encode(source, "-o", "one.mjpeg")
        self.assert_same_file("one.mjpeg", "out.mjpeg")


del ShardTest, ProgramTest
