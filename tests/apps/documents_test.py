# Commands that the documents name: `zerorun` parses them, CTest has the tests, GStreamer runs the pipelines; and what
# --help and --help-all show.
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


COMMON = {
    "encode": "-i --input -o --output -y --overwrite -q --quality --subsampling --tune --target-size --bitrate --fps "
              "--frames --device --verify",
    "decode": "-i --input -o --output -y --overwrite --format --pix-fmt --frames --on-error --strict --icc "
              "--no-autorotate --device --quiet",
    "copy": "-i --input -o --output -y --overwrite --fps --frames --on-error --audio --optimize --progressive "
            "--rotate --crop --verify",
    "play": "-i --input --fps --frames --start --speed --loop --fullscreen --mute --autoexit --compare --no-window "
            "--device",
    "bench": "--operation -q --quality --files --device --threads --no-peers --only --json",
}


def options(text):
    """The names of all options, in the order of the help."""
    lines = re.findall(r"^  (?:[A-Z]+(?:, |  |$))?((?:--?[a-z][a-z-]*(?:, )?)+)", text, re.M)
    return [name for line in lines for name in line.split(", ") if name]


class HelpTest(ProgramTest):
    def help(self, *arguments):
        done = self.zerorun(*arguments)
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode()

    def commands(self):
        found = re.findall(r"^  ([a-z]+) ", self.help("--help").partition("Subcommands:")[2], re.M)
        self.assertGreaterEqual(set(found), set(COMMON) | {"info", "devices"})
        return found

    def test_help_is_short(self):
        for command in [[]] + [[command] for command in self.commands()]:
            lines = self.help(*command, "--help").splitlines()
            self.assertLessEqual(len(lines), 45, command)
            self.assertLessEqual(max(map(len, lines)), 100, command)

    def test_help_shows_the_common_options_and_where_the_others_are(self):
        for command in self.commands():
            text, whole = self.help(command, "--help"), self.help(command, "--help-all")
            with self.subTest(command):
                if command in COMMON:
                    self.assertEqual(options(text), COMMON[command].split())
                    self.assertIn(f"zerorun {command} --help-all\n", text)
                    count = len(re.findall("^  [A-Z-]", re.split("\n(?:Keys|Examples):", whole)[0], re.M))
                    self.assertIn(f"\nAll {count} options and the exit codes: ", text)
                else:  # so few that none is left out
                    self.assertEqual(options(text), options(whole))
                    self.assertLessEqual(len(options(whole)), 20)

    def test_help_all_has_every_option_once(self):
        """The program knows no option that --help-all leaves out: of the words in the sources that look like options, it
        calls all the others unknown."""
        words = {word for path in (ROOT / "apps").rglob("*.cpp") if "python" not in path.parts
                 for word in re.findall(r'"(?:-[a-z],)?(--[a-z][a-z-]*)[",]', path.read_text(encoding="utf-8"))}
        self.assertGreater(len(words), 80)
        for command in self.commands():
            shown = options(self.help(command, "--help-all"))
            with self.subTest(command):
                self.assertEqual(sorted(shown), sorted(set(shown)))
                self.assertLessEqual({"--help", "--help-all"}, set(shown))
                others = sorted(words - set(shown) - {"--version"})
                said = self.zerorun(command, *others, code=2).stderr.decode()
                self.assertLessEqual(set(others), set(re.findall(r"--[a-z-]+", said.partition("(see")[0])), said)

    def test_exit_codes_are_in_the_help_of_the_program_and_in_help_all(self):
        codes = self.help("--help").partition("\nExit codes:\n")[2]
        self.assertEqual(re.findall(r"^  (\d+)", codes, re.M), ["0", "1", "2", "3", "4", "5", "6", "75", "130"])
        for words in ([], ["help"], ["help", "--help"], ["--help-all"], ["-h"]):
            self.assertEqual(self.help(*words), self.help("--help"))
        for command in self.commands():
            self.assertTrue(self.help(command, "--help-all").endswith("\nExit codes:\n" + codes), command)
            self.assertEqual(self.help("help", command, "--help-all"), self.help(command, "--help-all"))
