# Outputs with the names of the inputs: folders, {name} and {number}, sub-folders, collisions, long names; and
# pictures whose names lie.
# SPDX-License-Identifier: MIT
import os
import pathlib
import shutil

from support import BUILT_WITH_OPENCV, ProgramTest, make_ppm, make_y4m, needs_opencv


class NamesTest(ProgramTest):
    def folder(self, *names):
        """A folder `in` with a JPEG file for each name."""
        for i, name in enumerate(names):
            path = pathlib.Path("in") / name
            path.parent.mkdir(parents=True, exist_ok=True)
            self.encode(make_ppm("one.ppm", frame=i), "-o", "one.jpg", "-y")
            shutil.copy("one.jpg", path)
        return "in"

    def written(self, name="out"):
        root = pathlib.Path(name)
        return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())

    def test_a_folder_keeps_the_names(self):
        source = self.folder("IMG_1.jpg", "IMG_2.jpg", "a b.JPG", "100%.jpg", "x%05d.jpg", "y##.jpg")
        names = ["100%", "IMG_1", "IMG_2", "a b", "x%05d", "y##"]
        for command, suffix in (("decode", ".png" if BUILT_WITH_OPENCV else ".ppm"), ("copy", ".jpg"), ("encode", ".jpg")):
            with self.subTest(command=command):
                self.zerorun(command, source, "-o", "out/")
                self.assertEqual(self.written(), sorted(name + suffix for name in names))
                for name in names:  # each has its own picture
                    one = self.zerorun(command, f"{source}/{name}." + ("JPG" if name == "a b" else "jpg"), "-o",
                                       "single/")
                    path = pathlib.Path("single") / (name + suffix)
                    self.assertEqual(path.read_bytes(), (pathlib.Path("out") / path.name).read_bytes(), one)
                shutil.rmtree("out")
                shutil.rmtree("single")

    @needs_opencv
    def test_words_of_a_pattern(self):
        source = self.folder("b.jpg", "c.jpg")
        os.mkdir("out")
        self.decode(source, "-o", "out/{name}_{number}.ppm")
        self.decode(source, "-o", "out/%03d-{name}.pgm", "--start-number", "7")
        self.decode(source, "-o", "out", "--output-format", "BMP", "--frames", "1:2")
        self.decode(make_y4m("clip.y4m", frames=2), "-o", "out/{name}{number}.png")
        self.assertEqual(self.written(), ["007-b.pgm", "008-c.pgm", "b_1.ppm", "c.bmp", "c_2.ppm", "clip1.png",
                                          "clip2.png"])
        self.encode(source, "-o", "out/{name}.jpg", "--verify")
        refused = self.decode(source, "-o", "{name}/{name}.png", code=4)
        self.assert_sentence(refused, "{name}")
        self.assert_sentence(self.decode(source, "-o", "out", "--missing", "hold", code=2), "--missing hold")
        self.assert_sentence(self.decode(source, "-o", "a.y4m", "--keep-tree", code=2), "--keep-tree")
        self.assert_sentence(self.encode(source, "-o", "out", "--shard", "0/2", code=2), "pattern")
        # One frame too many for one name.
        self.assert_sentence(self.decode("clip.y4m", "-o", "new/", code=4), "{name}_")
        self.assertEqual(self.written("new"), [])

    @needs_opencv
    def test_sub_folders(self):
        source = self.folder("x/1.jpg", "y/1.jpg", "top.jpg", ".hidden/1.jpg")
        os.symlink("..", "in/x/loop")
        self.decode(source, "-o", "out/", "--keep-tree")
        self.assertEqual(self.written(), ["top.png", "x/1.png", "y/1.png"])
        self.zerorun("copy", "in/*/1.jpg", "-o", "globbed/", "--keep-tree")
        self.assertEqual(self.written("globbed"), ["x/1.jpg", "y/1.jpg"])
        self.encode("in/x/1.jpg", "in/y/1.jpg", "-o", "listed/{name}.jpg", "--keep-tree")
        self.assertEqual(self.written("listed"), ["x/1.jpg", "y/1.jpg"])
        self.decode(source, "-o", "flat/")
        self.assertEqual(self.written("flat"), ["top.png"])

    @needs_opencv
    def test_collisions_are_refused_before_anything_is_written(self):
        source = self.folder("a.jpg", "b.jpg", "sub/a.jpg")
        shutil.copy("in/b.jpg", "in/a.jpeg")
        refused = self.decode(source, "-o", "out/", code=4)
        self.assert_sentence(refused, "a.jpeg", "a.jpg", "would both become", "{name}_{number}")
        self.assertFalse(os.path.exists("out"))
        os.remove("in/a.jpeg")
        refused = self.decode("in/a.jpg", "in/sub/a.jpg", "-o", "out/", code=4)
        self.assert_sentence(refused, "would both become", "--keep-tree")
        os.mkdir("out")
        self.write("out/b.png", b"mine")
        self.assert_sentence(self.decode(source, "-o", "out", code=4), "out/b.png")
        self.assertEqual(self.written(), ["b.png"])
        self.decode(source, "-o", "out", "-y")
        self.assertNotEqual(self.read("out/b.png"), b"mine")
        # Another input would be replaced.
        self.zerorun("copy", "in/a.jpg", "in/b.jpg", "-o", "in/{name}.jpg", "-y")
        clash = self.folder("n_1.jpg", "n.jpg")
        refused = self.zerorun("copy", f"{clash}/n.jpg", f"{clash}/n_1.jpg", "-o", f"{clash}/{{name}}_{{number}}.jpg",
                               "-y", code=4)
        self.assert_sentence(refused, "another input")

    @needs_opencv
    def test_long_names(self):
        """A name of 255 bytes leaves no room for '.part'."""
        longest = os.pathconf(".", "PC_NAME_MAX")
        if longest < 255:
            self.skipTest("this file system has shorter names")
        for length in (250, 251, 255):
            stem = "n" * (length - 5)
            source = self.folder(stem + "1.jpg", stem + "2.jpg")
            self.decode(source, "-o", "out/", "--threads", "2")
            self.assertEqual(self.written(), [stem + "1.png", stem + "2.png"])
            self.encode(make_y4m("in.y4m", frames=2), "-o", "m" * (length - 6) + ".mjpeg")
            for name in ("in", "out"):
                shutil.rmtree(name)

    @needs_opencv
    def test_pictures_are_judged_by_their_bytes(self):
        """PNG and PPM files named .jpg among JPEG files."""
        source = self.folder("1.jpg", "2.jpg", "3.jpg", "4.jpg")
        self.decode("in/2.jpg", "-o", "two.png")
        shutil.copy("two.png", "in/2.jpg")
        make_ppm("in/4.jpg", frame=3)
        for first in ("1.jpg", "2.jpg"):
            files = [f"{source}/{first}"] + [f"{source}/{name}" for name in ("1.jpg", "2.jpg", "3.jpg", "4.jpg")
                                            if name != first]
            self.decode(*files, "-o", "out/")
            self.assertEqual(self.read("out/2.png"), self.read("two.png"))
            self.assertEqual(self.written(), ["1.png", "2.png", "3.png", "4.png"])
            self.decode(*files, "-o", "out.y4m", "-y")
            self.encode(*files, "-o", "coded/", "-y")
            shutil.rmtree("out")
        self.assert_sentence(self.zerorun("copy", source, "-o", "out/", code=3), "2.jpg", "not JPEG")
