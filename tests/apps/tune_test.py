# encode --tune, --effort and --tables: what they change, and what they leave as it is.
# SPDX-License-Identifier: MIT
import unittest

from support import ProgramTest, make_y4m


class TuneTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.source = make_y4m(self.path("in.y4m"), 160, 96, 1)

    def jpeg(self, *options):
        self.encode(self.source, "-o", self.path("out.jpg"), "-y", "--restart", "none", *options)
        with open(self.path("out.jpg"), "rb") as file:
            return file.read()

    def test_exact_is_the_default_and_effort_changes_nothing_in_it(self):
        plain = self.jpeg()
        self.assertEqual(self.jpeg("--tune", "exact"), plain)
        self.assertEqual(self.jpeg("--tune", "exact", "--effort", "best"), plain)
        self.assertEqual(self.jpeg("--tables", "annex-k"), plain)
        self.assertEqual(self.jpeg("--tables", "auto"), plain)

    def test_tuned_modes_differ_from_each_other(self):
        streams = {self.jpeg("--tune", tune, "--effort", effort)
                   for tune in ("photo", "text", "psnr") for effort in ("fast", "best")}
        streams.add(self.jpeg())
        self.assertEqual(len(streams), 7)

    def test_tuned_modes_have_tables_of_their_effort_unless_others_are_asked_for(self):
        def stream(*options):
            return self.jpeg("--tune", "photo", *options)
        for effort, huffman in (("fast", "trained"), ("best", "optimal")):
            unnamed = stream("--effort", effort)
            self.assertEqual(self.info(self.path("out.jpg"))["jpeg"]["huffman"], "own")
            others = [other for other in ("standard", "optimal", "trained") if other != huffman]
            self.assertEqual(stream("--effort", effort, "--huffman", huffman), unnamed)
            for other in others:
                self.assertNotEqual(stream("--effort", effort, "--huffman", other), unnamed)
        self.jpeg("--tune", "photo", "--effort", "best", "--huffman", "standard")
        self.assertEqual(self.info(self.path("out.jpg"))["jpeg"]["huffman"], "standard")
        self.jpeg("--effort", "best")
        self.assertEqual(self.info(self.path("out.jpg"))["jpeg"]["huffman"], "standard")

    def test_each_table_has_its_name(self):
        streams = {self.jpeg("--tables", name) for name in ("annex-k", "flat", "ffmpeg", "tuned")}
        self.assertEqual(len(streams), 4)
        with open(self.path("tables.txt"), "w", encoding="ascii") as file:
            file.write("7 " * 64)
        self.assertEqual(self.jpeg("--tables", self.path("tables.txt")),
                         self.jpeg("--qtables", self.path("tables.txt")))
        flat = self.jpeg("--tables", "flat", "-q", "60")
        self.assertEqual(self.info(self.path("out.jpg"))["jpeg"]["quality"], None)
        self.assertNotEqual(flat, self.jpeg("--tables", "flat", "-q", "61"))

    def test_all_instruction_sets_and_threads_write_the_same(self):
        for effort in ("fast", "best"):
            wanted = self.jpeg("--tune", "photo", "--effort", effort, "--cpu", "scalar")
            self.assertEqual(self.jpeg("--tune", "photo", "--effort", effort), wanted)
            self.assertEqual(self.jpeg("--tune", "photo", "--effort", effort, "--threads", "3"),
                             wanted)

    def test_verify_and_psnr_take_tuned_frames(self):
        self.encode(self.source, "-o", self.path("out.mjpeg"), "--tune", "photo", "--effort", "best",
                    "--verify", "--psnr")

    def test_wrong_words(self):
        for options in (("--tune", "best"), ("--tune", ""), ("--effort", "slow"),
                        ("--tables", "flat", "--qtables", "x")):
            done = self.encode(self.source, "-o", self.path("no.jpg"), *options, code=2)
            self.assert_sentence(done, options[0])
        done = self.encode(self.source, "-o", self.path("no.jpg"), "--tables", "missing.txt", code=3)
        self.assert_sentence(done, "missing.txt")


if __name__ == "__main__":
    unittest.main()
