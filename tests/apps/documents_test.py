# Commands that the documents name: `zerorun` parses them, CTest has the tests, GStreamer runs the pipelines.
# SPDX-License-Identifier: MIT
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest

from support import ProgramTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A build folder in the clone may have copies of the documents.
DOCUMENTS = sorted(path for path in [*ROOT.glob("**/README.md"), *ROOT.glob(".github/*.md")]
                   if not {"build", ".git", "node_modules"} & set(path.relative_to(ROOT).parts[:-1]))
UNKNOWN = "--not-an-option"


def split_blocks(text):
    """(lines of code, lines of text); a line that ends in a backslash is one with the next."""
    code, prose, fenced = [], [], False
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            code.append(line.strip())
        else:
            prose.append(line)
    return code, prose


def words_of(line):
    """The words of a line of a shell, without its comment; signs such as | and > are words."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split, lexer.commenters = True, "#"
    return list(lexer)


def commands_of(line, name):
    """The commands in the line that run the program `name`: their words behind the name."""
    found, command, is_file = [], [], False
    for word in [*words_of(line), ";"]:
        if not set(word) <= set("|&;<>"):
            if not is_file:
                command.append(word)
            is_file = False
            continue
        is_file = bool(set(word) & set("<>"))
        if is_file:
            continue
        while command and re.fullmatch(r"\w+=.*", command[0]):
            command.pop(0)
        if command and os.path.basename(command[0]) == name:
            found.append(command[1:])
        command = []
    return found


def commands(document, name):
    """(words, whether it is whole): in blocks of code whole commands stand, in `spans` also parts."""
    code, prose = split_blocks(document.read_text(encoding="utf-8"))
    for line in code:
        if re.search(rf"\b{name} ", line):
            yield from ((words, True) for words in commands_of(line, name))
    for span in re.findall(rf"`({name} [^`]*)`", "\n".join(prose)):
        yield from ((words, False) for words in commands_of(span.replace("\n", " "), name))


class CommandsTest(ProgramTest):
    def parse(self, words):
        """Complaints about the command line. An unknown option behind it ends the program after it has read the
        line and before it does anything; the complaint about that one is not counted."""
        for word in words:  # several inputs have to be there, and so have folders of options
            path = pathlib.PurePath(word)
            if re.fullmatch(r"[\w/-]+\.\w+", word) and not path.is_absolute() and not word.startswith("-"):
                file = pathlib.Path(self.path(word))
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch()
        said = self.zerorun(*words, UNKNOWN, code=2, cwd=self.path("")).stderr.decode().strip()
        found = re.fullmatch(r"zerorun: (.*) \(see zerorun[a-z ]* --help\)", said)
        self.assertTrue(found, said)
        expected = f"there is no option '{UNKNOWN}'"
        if found[1].startswith(expected):
            return found[1][len(expected):].removeprefix("; ")
        return found[1]

    def test_a_wrong_command_is_found(self):
        for words, complaint in ((["encode", "a.y4m", "-o", "b.mov"], ""),
                                 (["encode", "a.y4m"], "--output is required"),
                                 (["encode", "-o", "b.mov"], "INPUT is required"),
                                 (["encode", "a.y4m", "-o", "b.mov", "--foo"], "--foo"),
                                 (["encode", "a.y4m", "-o", "b.mov", "--huffman", "best"], "'best'"),
                                 (["concat", "a.mov", "b.avi", "-o", "c.mkv"], ""),
                                 (["recode"], "'recode'")):
            with self.subTest(words=words):
                self.assertIn(complaint, self.parse(words))
                self.assertEqual(complaint == "", self.parse(words) == "")

    def test_how_commands_are_found(self):
        for line, found in (("zerorun encode 'a b.png' -o - | zerorun decode - -o b.y4m  # zerorun x",
                             [["encode", "a b.png", "-o", "-"], ["decode", "-", "-o", "b.y4m"]]),
                            ("A=1 build/bin/zerorun info a.mov >b && cat b", [["info", "a.mov"]]),
                            ("cp zerorun /usr/bin", []), ("ninja zerorun_program", [])):
            self.assertEqual(commands_of(line, "zerorun"), found)

    def test_every_command_of_the_documents_parses(self):
        self.assertGreater(len(DOCUMENTS), 15)
        count = 0
        for document in DOCUMENTS:
            for words, is_whole in commands(document, "zerorun"):
                with self.subTest(document=str(document.relative_to(ROOT)), command=" ".join(words)):
                    count += 1
                    if not is_whole and words[0] == "COMMAND":
                        words[0] = "encode"
                    if words[-1] in ("--help", "--help-all", "--version"):
                        self.zerorun(*words)
                        continue
                    complaint = self.parse(words)
                    if not is_whole and re.fullmatch(r"\S+ is required", complaint):
                        complaint = ""
                    self.assertEqual(complaint, "")
        self.assertGreater(count, 30)


def branches(pattern):
    """The pattern once for each word of a group such as "(a|b)", with this word alone in place of the group."""
    return [pattern[:group.start()] + word + pattern[group.end():]
            for group in re.finditer(r"\(([^()]*\|[^()]*)\)", pattern) for word in group[1].split("|")] or [pattern]


class TestsTest(unittest.TestCase):
    @unittest.skipUnless("ZERORUN_TESTS_OF" in os.environ, "this build has not all of the tests")
    def test_every_selection_of_tests_finds_some(self):
        listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=os.environ["ZERORUN_TESTS_OF"],
                                capture_output=True, check=True).stdout
        names, labels = [], set()
        for test in json.loads(listed)["tests"]:
            names.append(test["name"])
            labels.update(label for fact in test.get("properties", []) if fact["name"] == "LABELS"
                          for label in fact["value"])
        if any("NOT_BUILT" in name for name in names):
            self.skipTest("not all tests are built")
        count = 0
        for document in DOCUMENTS:
            for words, _ in commands(document, "ctest"):
                if "--preset" in words and "release" not in words:  # other builds have other tests
                    continue
                for option, pattern in zip(words, words[1:]):
                    of = {"-R": names, "-L": labels}.get(option, [])
                    self.assertNotRegex(pattern, r"\([^()]*\(", "groups in groups hide what finds nothing")
                    for branch in branches(pattern) if of else []:
                        count += 1
                        with self.subTest(document=str(document.relative_to(ROOT)), pattern=branch):
                            self.assertTrue([name for name in of if re.search(branch, name)])
        self.assertGreater(count, 20)


# Elements of packages that are not part of GStreamer's base.
MAY_BE_ABSENT = {"avmux_mp4", "matroskademux", "matroskamux", "qtdemux"}


@unittest.skipUnless("ZERORUN_GST_PLUGIN" in os.environ, "this build has no GStreamer elements")
@unittest.skipUnless(shutil.which("gst-launch-1.0") and shutil.which("gst-inspect-1.0"), "gst-launch-1.0 is not installed")
class PipelinesTest(ProgramTest):
    def test_the_pipelines_of_the_documents_run(self):
        """Those that need no screen. They stand in the order in which they are tried."""
        environment = {**os.environ, "GST_PLUGIN_PATH": os.environ["ZERORUN_GST_PLUGIN"],
                       "GST_REGISTRY": self.path("registry")}
        count = 0
        for document in DOCUMENTS:
            for words, is_whole in commands(document, "gst-launch-1.0"):
                if not is_whole:
                    continue
                words = ["fakesink" if word == "autovideosink" else word for word in words]
                absent = [element for element in MAY_BE_ABSENT & set(words) if subprocess.run(
                    ["gst-inspect-1.0", "--exists", element], env=environment).returncode != 0]
                if absent:
                    self.skipTest(f"not installed: {absent}")
                with self.subTest(document=str(document.relative_to(ROOT)), pipeline=" ".join(words)):
                    count += 1
                    done = subprocess.run(["gst-launch-1.0", *words], cwd=self.path(""), env=environment,
                                          capture_output=True, text=True, timeout=600)
                    self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(count, 1)
