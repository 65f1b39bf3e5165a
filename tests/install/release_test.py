# Parts of .ci/release.sh: which wheels it makes, when it refuses, and how it tries the program.
# SPDX-License-Identifier: MIT
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["ZERORUN_SOURCE"])
PROGRAM = os.environ["ZERORUN_PROGRAM"]
ALL = (9, 10, 11, 12, 13)


class ReleaseTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)

    def release(self, *arguments, there=ALL, root=SOURCE, code=0):
        """With interpreters of which only those of the versions `there` can build."""
        for minor in ALL:
            stand_in = self.work / f"python3.{minor}"
            stand_in.write_text(f"#!/bin/sh\nexit {int(minor not in there)}\n")
            stand_in.chmod(0o755)
        done = subprocess.run([str(root / ".ci" / "release.sh"), *arguments], capture_output=True, text=True,
                              env={"PATH": f"{self.work}:/usr/bin:/bin", "HOME": str(self.work)})
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout, done.stderr

    def test_the_plan_has_a_wheel_for_each_version(self):
        said, errors = self.release("--plan")
        self.assertEqual(errors, "")
        for wheel in ("3.9", "3.10", "3.11", "3.12", "3.13"):
            self.assertIn(f"wheel for CPython {wheel} by python{wheel}\n", said)
        self.assertIn("wheel for CPython 3.12 and later by python3.12\n", said)

    def test_a_missing_interpreter_is_named_and_an_error(self):
        _, errors = self.release("--plan", there=(9, 11, 12, 13), code=1)
        self.assertIn("no wheel for CPython 3.10, because", errors)
        self.assertEqual(errors.count("no wheel"), 1)
        self.assertIn("1 wheel cannot be made", errors)

    def test_what_is_missing_can_be_left_out(self):
        said, errors = self.release("--plan", "--allow-missing", there=(9, 13))
        self.assertEqual(errors.count("no wheel"), 3)
        self.assertIn("wheel for CPython 3.12 and later by python3.13\n", said)
        self.assertNotIn("3.11", said)
        _, errors = self.release("--plan", "--allow-missing", there=(9, 10))
        self.assertIn("no wheel for CPython 3.12 and later", errors)
        self.release("--plan", "--allow-missing", there=(), code=1)

    def test_an_unknown_option_is_an_error(self):
        for arguments in (("--plam",), ("--architectures",)):
            self.assertIn(arguments[0], self.release(*arguments, code=2)[1])

    @unittest.skipUnless(shutil.which("git"), "no git")
    def test_changes_that_are_not_committed_are_refused(self):
        root = self.work / "tree"
        header = root / "codec" / "include" / "zerorun" / "status.hpp"
        header.parent.mkdir(parents=True)
        (root / ".ci").mkdir()
        shutil.copy(SOURCE / ".ci" / "release.sh", root / ".ci")
        shutil.copy(SOURCE / "codec" / "include" / "zerorun" / "status.hpp", header)
        subprocess.run(["git", "init", "-q", root], check=True)
        said, errors = self.release("--no-trial", root=root, code=1)
        self.assertIn("changes that are not committed", errors)
        self.assertFalse((root / "build").exists())

    def try_program(self, program, code=0):
        done = subprocess.run(["sh", SOURCE / ".ci" / "try_program.sh", program, self.work], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(list(self.work.glob("zerorun.*")), [])
        return done.stdout + done.stderr

    def test_the_program_passes_its_trial(self):
        self.assertRegex(self.try_program(PROGRAM), r"^zerorun \d+\.\d+\.\d+ [+-]ffmpeg")

    def test_a_broken_program_does_not(self):
        """One that does nothing, and one that cannot read what it wrote."""
        self.try_program("/bin/true", code=1)
        broken = self.work / "broken"
        broken.write_text(f'#!/bin/sh\n[ "$1" != info ] || exit 3\nexec "{PROGRAM}" "$@"\n')
        broken.chmod(0o755)
        self.assertIn("failed", self.try_program(broken, code=1))


if __name__ == "__main__":
    unittest.main()
