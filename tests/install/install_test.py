# The installed package can be moved, and programs can use it in every usual way.
# SPDX-License-Identifier: MIT
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ["ZERORUN_SOURCE"])
BUILD = pathlib.Path(os.environ["ZERORUN_BUILD"])
CMAKE = os.environ["CMAKE"]
CXX = os.environ["CXX"]
CC = os.environ["CC"]
UNITY = os.environ["ZERORUN_UNITY"]
WERROR = os.environ["ZERORUN_WERROR"]
# A folder as deep as that of the build that is tested, for ccache: then headers have the same paths.
BUILDS = os.environ.get("ZERORUN_BUILDS") and pathlib.Path(os.environ["ZERORUN_BUILDS"])
HAVE_CUDA = os.environ["ZERORUN_HAVE_CUDA"] == "1"
PHOTO = SOURCE / "samples" / "media" / "raccoon.jpg"


def run(*command, code=0, **environment):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env={**os.environ, **environment})
    if done.returncode != code:
        raise AssertionError(f"{command} gave {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.folder.name)
        run(CMAKE, "--install", BUILD, "--prefix", cls.work / "first")
        (cls.work / "first").rename(cls.work / "moved here")  # a space in it, too
        cls.prefix = cls.work / "moved here"
        cls.lib = next(cls.prefix.glob("**/pkgconfig")).parent

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def configure(self, source, *options, code=0):
        build = pathlib.Path(tempfile.mkdtemp(dir=self.work))
        return build, run(CMAKE, "-S", source, "-B", build, "-G", "Ninja",
                          "-DCMAKE_BUILD_TYPE=Release", *options, code=code)

    def project(self, text, *files):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.work))
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\nproject(consumer LANGUAGES CXX)\n" + text)
        for file in files:
            shutil.copy(file, folder)
        return folder

    def check(self, program):
        """The consumer writes a JPEG file that the installed program understands."""
        picture = self.work / "picture.jpg"
        picture.unlink(missing_ok=True)
        run(program, picture)
        said = run(self.prefix / "bin" / "zerorun", "info", picture)
        self.assertIn("320x200", said)

    def built(self, source, *options):
        build, _ = self.configure(source, f"-DCMAKE_PREFIX_PATH={self.prefix}", *options)
        run(CMAKE, "--build", build)
        return build / "consumer"

    def test_find_package(self):
        program = self.built(HERE / "consumer")
        self.assertIn("libzerorun.so.", run("ldd", program))
        self.check(program)

    def test_find_package_static(self):
        program = self.built(HERE / "consumer", "-Dzerorun_USE_STATIC_LIBS=ON")
        self.assertNotIn("libzerorun", run("ldd", program))
        self.check(program)

    def test_find_package_io(self):
        folder = self.project("find_package(zerorun 0.1 CONFIG REQUIRED COMPONENTS io)\n"
                              "add_executable(consumer consumer_io.cpp)\n"
                              "target_link_libraries(consumer zerorun::io)\n",
                              HERE / "consumer_io.cpp")
        self.assertIn("1 frames of ", run(self.built(folder), PHOTO))

    def test_find_package_cuda(self):
        folder = self.project("find_package(zerorun CONFIG REQUIRED COMPONENTS cuda)\n"
                              "file(WRITE a.cpp \"#include <zerorun/cuda.hpp>\\nint main() {\\n"
                              "return zerorun::DeviceEncoder::create({}) ? 0 : 9; }\\n\")\n"
                              "add_executable(consumer a.cpp)\n"
                              "target_link_libraries(consumer zerorun::cuda)\n")
        build, said = self.configure(folder, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                                     code=0 if HAVE_CUDA else 1)
        if HAVE_CUDA:
            run(CMAKE, "--build", build)
            self.assertIn(subprocess.run([build / "consumer"]).returncode, (0, 9))
        else:
            self.assertIn("built without CUDA", said)

    def test_wrong_version_is_refused(self):
        folder = self.project("find_package(zerorun 7.0 CONFIG REQUIRED)\n")
        _, said = self.configure(folder, f"-DCMAKE_PREFIX_PATH={self.prefix}", code=1)
        self.assertIn("compatible with requested", said)

    def pkg_config(self, *words):
        # pkg-config escapes words with spaces for a shell.
        return run("pkg-config", *words, PKG_CONFIG_PATH=str(self.lib / "pkgconfig")).strip()

    def compiled(self, name, compiler, source, flags):
        """`flags` are words of a shell."""
        program = self.work / name
        run("sh", "-c", f"{compiler} '{source}' -o {program} {flags}")
        return program

    def test_pkg_config(self):
        flags = self.pkg_config("--cflags", "--libs", "zerorun") + f" '-Wl,-rpath,{self.lib}'"
        self.check(self.compiled("by_pkg_config", f"{CXX} -std=c++20", HERE / "consumer" / "consumer.cpp", flags))
        run(self.compiled("c_program", f"{CC} -std=c11 -Wall -Wextra -Werror",
                          SOURCE / "tests/codec/capi/capi_c11.c", flags))
        self.assertEqual(self.pkg_config("--modversion", "zerorun-io"),
                         self.pkg_config("--modversion", "zerorun"))

    def test_pkg_config_static(self):
        flags = self.pkg_config("--static", "--cflags", "--libs", "zerorun").replace("-lzerorun", "-l:libzerorun.a")
        program = self.compiled("static_by_pkg_config", f"{CXX} -std=c++20", HERE / "consumer" / "consumer.cpp", flags)
        self.assertNotIn("libzerorun", run("ldd", program))
        self.check(program)

    def test_inside_another_project(self):
        # The second door finds the objects of the first, because they lie where it puts its own; ninja
        # compiles again what it compiles with other options.
        build = BUILDS / "inside" if BUILDS else self.work / "inside"
        self.addCleanup(shutil.rmtree, build, ignore_errors=True)
        for door in (f"add_subdirectory({SOURCE} _deps/zerorun-build)\n",
                     "include(FetchContent)\n"
                     f"FetchContent_Declare(zerorun SOURCE_DIR {SOURCE})\n"
                     "FetchContent_MakeAvailable(zerorun)\n"):
            with self.subTest(door):
                folder = self.project("set(ZERORUN_IO OFF)\nset(ZERORUN_CUDA OFF)\n"
                                      f"set(ZERORUN_WERROR {WERROR})\n" + door +
                                      "add_executable(consumer consumer.cpp)\n"
                                      "target_link_libraries(consumer zerorun::zerorun)\n",
                                      HERE / "consumer" / "consumer.cpp")
                run(CMAKE, "--fresh", "-S", folder, "-B", build, "-G", "Ninja",
                    "-DCMAKE_BUILD_TYPE=Release", f"-DZERORUN_UNITY={UNITY}")
                (build / "consumer").unlink(missing_ok=True)
                run(CMAKE, "--build", build, "--target", "consumer")
                self.check(build / "consumer")
                self.assertNotIn("zerorun", run(CMAKE, "--install", build, "--prefix",
                                                self.work / "none"))

    @unittest.skipUnless((BUILD / "gstreamer-1.0").exists(), "no GStreamer elements")
    @unittest.skipUnless(shutil.which("dpkg"), "not Debian")
    def test_the_package_has_the_elements_where_gstreamer_looks(self):
        root = self.work / "debian"
        run(CMAKE, "--install", BUILD, "--prefix", root / "usr", "--component", "debian_gstreamer")
        plugins = run("pkg-config", "--variable=pluginsdir", "gstreamer-1.0").strip()
        self.assertTrue((root / plugins.lstrip("/") / "libgstzerorun.so").exists())

    def test_headers_are_complete(self):
        include = self.prefix / "include" / "zerorun"
        have = {header.name for header in include.glob("*")}
        want = {header.name for part in ("codec", "io") + (("cuda",) if HAVE_CUDA else ())
                for header in (SOURCE / part / "include" / "zerorun").glob("*")}
        self.assertEqual(have, want)

    def test_library_names(self):
        version = re.search(r"\d+\.\d+\.\d+", run(self.prefix / "bin/zerorun", "--version"))[0]
        for name in ("libzerorun", "libzerorun_io"):
            real = self.lib / f"{name}.so.{version}"
            self.assertTrue(real.is_file() and not real.is_symlink())
            soname = re.search(r"SONAME.*\[(.*)\]", run("readelf", "-d", real))[1]
            self.assertRegex(soname, rf"^{name}\.so\.\d+$")
            self.assertEqual((self.lib / soname).resolve(), real)
            self.assertEqual((self.lib / f"{name}.so").resolve(), real)

    @unittest.skipUnless(shutil.which("help2man") and shutil.which("man"), "no help2man or man")
    def test_manual(self):
        pages = self.prefix / "share" / "man" / "man1"
        commands = re.findall(r"^  ([a-z]+) ", run(self.prefix / "bin/zerorun", "--help")
                              .partition("Subcommands:")[2].partition("\n\n")[0], re.M)
        self.assertIn("encode", commands)
        self.assertEqual({page.name for page in pages.iterdir()},
                         {"zerorun.1.gz"} | {f"zerorun-{name}.1.gz" for name in commands})
        for page in pages.iterdir():
            self.assertEqual(run("man", "--warnings=w", "-l", page, MANWIDTH="80",
                                 LC_ALL="C.UTF-8", MANROFFSEQ="").count("warning"), 0)
        text = run("man", "-l", pages / "zerorun-encode.1.gz", MANWIDTH="100")
        self.assertIn("zerorun-encode - Encode", text)
        for name in commands:
            source = gzip.decompress((pages / f"zerorun-{name}.1.gz").read_bytes()).decode()
            with self.subTest(name):
                heads = re.findall(r"^\.TP\n(.*)", source, re.M)
                self.assertEqual(sorted(option for head in heads for option in
                                        re.findall("--[a-z-]+", re.sub(r"\\f.|\\", "", head))), self.options(name))
                self.assertRegex(source, r"(?s)\.SH \"?EXIT STATUS.*\n3\n.*input unreadable")

    def options(self, command):
        """Those of --help-all, which a test of the program compares with what the program knows."""
        text = run(self.prefix / "bin/zerorun", command, "--help-all")
        return sorted(name for line in re.findall(r"^  (?:[A-Z]+, )?((?:--?[a-z][a-z-]*(?:, )?)+)", text, re.M)
                      for name in line.split(", ") if name.startswith("--"))

    def complete(self, shell, script):
        if not shutil.which(shell):
            self.skipTest(f"no {shell}")
        home = str(self.work)  # where no start-up file of the user's is read
        # A TAB runs no program: this one would say so.
        trap = self.work / "trap"
        trap.mkdir(exist_ok=True)
        (trap / "zerorun").write_text("#!/bin/sh\necho the completion ran the program\n")
        (trap / "zerorun").chmod(0o755)
        return run(shell, "-c", script, PATH=f"{trap}:{os.environ['PATH']}", HOME=home, ZDOTDIR=home, XDG_CONFIG_HOME=home,
                   BASH_ENV="").splitlines()

    def test_bash_completion(self):
        script = next(self.prefix.glob("share/bash-completion/completions/*"))

        def words(*line):
            quoted = " ".join(f"'{word}'" for word in line)
            return self.complete("bash", f"source '{script}'; COMP_WORDS=({quoted}); "
                                 f"COMP_CWORD={len(line) - 1}; _zerorun; "
                                 "printf '%s\\n' \"${COMPREPLY[@]}\"")
        self.assertEqual(words("zerorun", "enc"), ["encode"])
        self.assertEqual(words("zerorun", "encode", "--qual"), ["--quality"])
        self.assertEqual(words("zerorun", "encode", "--huffman", ""), ["standard", "optimal", "trained"])
        self.assertEqual(words("zerorun", "encode", "--device", "cu"), ["cuda"])
        self.assertEqual(words("zerorun", "encode", "--range", ""), ["auto", "limited", "full"])
        for command in ("encode", "bench", "info"):
            self.assertEqual(sorted(words("zerorun", command, "--")), self.options(command))

    def test_fish_completion(self):
        script = next(self.prefix.glob("share/fish/vendor_completions.d/*"))

        def words(line):
            return self.complete("fish", f"source '{script}'; complete -C '{line}' | cut -f1")
        self.assertEqual(words("zerorun enc"), ["encode"])
        self.assertEqual(words("zerorun encode --qual"), ["--quality"])
        self.assertEqual(sorted(words("zerorun encode --huffman ")), ["optimal", "standard", "trained"])
        self.assertEqual(sorted(words("zerorun encode --")), self.options("encode"))

    def test_zsh_completion(self):
        script = next(self.prefix.glob("share/zsh/vendor-completions/*"))
        # The completion system needs a terminal; without one the test sees the words that it offers.
        offered = self.complete(
            "zsh", "_describe() { print -l -- ${(P)2}; }; compadd() { print -l -- ${@:2}; }; "
            f"words=(zerorun encode --huffman ''); CURRENT=4; source '{script}'; "
            f"words=(zerorun encode --qual); CURRENT=3; source '{script}'; "
            f"words=(zerorun enc); CURRENT=2; source '{script}'")
        self.assertEqual(offered[:2], ["standard", "optimal"])
        self.assertEqual(sorted(word.partition(":")[0] for word in offered if word.startswith("--")),
                         self.options("encode"))
        self.assertTrue(any(word.startswith("encode:") for word in offered))


if __name__ == "__main__":
    unittest.main()
