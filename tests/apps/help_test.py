# --help shows the options that most people need, --help-all all of them, each once.
# SPDX-License-Identifier: MIT
import pathlib
import re

from support import ProgramTest

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "apps"

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
        words = {word for path in SOURCES.rglob("*.cpp") if "python" not in path.parts
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
