# Turned and mirrored pictures in containers: `encode` and `copy` write what FFmpeg reads, and back.
# SPDX-License-Identifier: MIT

from pictures import exif_of, ppm_pixels, quarters, turned
from support import ProgramTest, ffmpeg, needs_containers

# Exif 2.32, 4.6.4, as mirroring left to right followed by a clockwise turn.
TURNS = {1: (False, 0), 2: (True, 0), 3: (False, 180), 4: (True, 180), 5: (True, 270),
         6: (False, 90), 7: (True, 90), 8: (False, 270)}


@needs_containers
class TurnedVideoTest(ProgramTest):
    def portrait(self, orientation):
        out = f"o{orientation}.jpg"
        self.encode(quarters("in.ppm"), "-o", out, "-q", 95, "--exif", self.write("exif", exif_of(orientation)), "-y")
        return out

    def shown(self, video):
        self.decode(video, "-o", "shown.ppm", "-y")
        return self.read("shown.ppm")

    def check_facts(self, video, orientation):
        info = self.info(video)
        self.assertEqual((info["mirrored"], info["rotation_degrees"]), TURNS[orientation])

    def check_video(self, video, orientation):
        self.check_facts(video, orientation)
        want = turned(ppm_pixels(self.read("in.ppm")), orientation)
        theirs = ffmpeg("-i", video, "-frames:v", 1, "-f", "image2pipe", "-c:v", "ppm", "-").stdout
        for rows in map(ppm_pixels, (self.shown(video), theirs)):
            for y, x in ((3, 3), (3, -4), (-4, 3), (-4, -4)):
                self.assertLess(max(abs(a - b) for a, b in zip(rows[y][x], want[y][x])), 40, (orientation, y, x))

    def test_every_orientation_in_mov_and_mp4(self):
        for orientation in range(1, 9):
            jpeg = self.portrait(orientation)
            kinds = [("encode", "mov" if orientation % 2 else "mp4"), ("copy", "mov")]
            if orientation == 6:
                kinds += [("encode", "mov"), ("encode", "qt"), ("copy", "qt")]  # another name of MOV
            for command, kind in kinds:
                video = f"{command}.{kind}"
                self.zerorun(command, jpeg, "-o", video, "-y", "--quiet")
                self.check_video(video, orientation)
                # From a container on to the next one, and back to a picture.
                self.zerorun("copy", video, "-o", "again.mov", "-y", "--quiet")
                self.check_facts("again.mov", orientation)
                self.zerorun("copy", video, "-o", "back.jpg", "-y", "--quiet")
                self.assertEqual(self.info("back.jpg")["jpeg"]["exif_orientation"], orientation, command)
                self.assertEqual(self.shown("back.jpg"), self.shown(video))
            # The stream that was copied is the picture's, byte for byte.
            self.zerorun("copy", "copy.mov", "-o", "same.jpg", "-y", "--quiet")
            self.assertEqual(self.read("same.jpg"), self.read(jpeg))

    def test_what_cannot_say_it_is_noted(self):
        self.zerorun("copy", self.portrait(7), "-o", "turned.mov", "--quiet")
        for kind in ("mkv", "avi", "mjpeg"):
            done = self.zerorun("copy", "turned.mov", "-o", "out." + kind)
            if kind == "mkv" and b".mov" not in done.stderr:  # Matroska by FFmpeg 7 says it
                self.check_video("out.mkv", 7)
            else:
                self.assertIn(b".mov", done.stderr, kind)

    def test_other_video_mirrored(self):
        """Not JPEG: its matrix is the display matrix of a MOV made by FFmpeg's muxer."""
        self.portrait(1)
        ffmpeg("-i", "in.ppm", "-c:v", "png", "bare.mov")
        data = bytearray(self.read("bare.mov"))
        unit = (65536).to_bytes(4, "big")
        at = data.index(b"tkhd") + 4 + 40  # the matrix of the track header: version 0
        self.assertEqual(data[at:at + 4], unit)
        data[at:at + 4] = (-65536 & 0xFFFFFFFF).to_bytes(4, "big")  # x' = -x
        self.write("png.mov", bytes(data))
        info = self.info("png.mov")
        self.assertEqual((info["mirrored"], info["rotation_degrees"]), (True, 0))
        want = turned(ppm_pixels(self.shown("bare.mov")), 2)
        self.assertEqual(ppm_pixels(self.shown("png.mov")), want)

    def test_a_sequence_keeps_what_differs_from_the_first(self):
        """The display matrix says it for the first picture; EXIF still says what is not the same."""
        for i, orientation in enumerate((6, 6, 3), 1):
            self.zerorun("copy", self.portrait(orientation), "-o", f"s{i}.jpg", "--quiet")
        self.encode("s%d.jpg", "-o", "mixed.mov", "--quiet")
        self.assertEqual(self.info("mixed.mov")["rotation_degrees"], 90)
        data = self.zerorun("copy", "mixed.mov", "-o", "-", "--quiet").stdout
        orientations = [picture[picture.index(b"Exif\0\0") + 24] for picture in data.split(b"\xff\xd8")[1:]]
        self.assertEqual(orientations, [1, 1, 3])
