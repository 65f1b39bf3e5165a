# info and devices: facts as text and JSON.
# SPDX-License-Identifier: MIT
import json
import pathlib

from support import ProgramTest, make_ppm, make_y4m, needs_containers


class InfoTest(ProgramTest):
    def test_raw_stream(self):
        y4m = make_y4m("in.y4m", 65, 47, 5)
        out = "out.mjpeg"
        self.encode(y4m, "-o", out, "-q", "77", "--restart", "9", "--comment", "hello")
        info = self.info(out)
        size = pathlib.Path(out).stat().st_size
        self.assertEqual((info["frames"], info["file_bytes"]), (5, size))
        self.assertEqual(info["packets"]["count"], 5)
        self.assertEqual(info["packets"]["bytes"], size)
        self.assertLessEqual(info["packets"]["smallest"], size / 5)
        self.assertGreaterEqual(info["packets"]["largest"], size / 5)
        jpeg = info["jpeg"]
        self.assertEqual((jpeg["width"], jpeg["height"]), (65, 47))
        self.assertEqual((jpeg["process"], jpeg["color"], jpeg["subsampling"]),
                         ("baseline", "YCbCr", "420"))
        self.assertEqual((jpeg["quality"], jpeg["huffman"]), (77, "standard"))
        self.assertEqual(jpeg["restart_interval_mcus"], 9)
        self.assertIn("hello", [segment["text"] for segment in jpeg["segments"]])
        text = self.zerorun("info", out).stdout.decode()
        for word in ("65x47", "77", "every 9 MCUs", "hello"):
            self.assertIn(word, text)

    def test_names_and_tags_are_any_bytes(self):
        y4m, odd = make_y4m("in.y4m", frames=2), b"caf\xe9.mjpeg"
        done = self.encode(y4m, "-o", odd, "--progress", "json", "--stats", "s.json")
        json.loads(done.stderr.splitlines()[-1])
        json.loads(self.read("s.json"))
        self.assertIn("caf\ufffd", self.zerorun("info", odd, "--json").stdout.decode())
        for name, options in ((b"shard\xe9.mjpeg", ["--shard", "0/2"]), (b"whole\xe9.mjpeg", ["--resume"])):
            self.encode(y4m, "-o", name, *options)

    def test_other_inputs(self):
        info = self.info(make_y4m("in.y4m", 32, 16, 3, rate="30000:1001"))
        self.assertEqual((info["width"], info["height"]), (32, 16))
        self.assertEqual(info["frame_rate"], "30000/1001")
        self.assertNotIn("jpeg", info)
        info = self.info(make_ppm("in.ppm", 40, 30))
        self.assertEqual((info["width"], info["height"]), (40, 30))

    def test_packet_sizes_of_a_sequence(self):
        y4m = make_y4m("in.y4m", frames=4)
        self.encode(y4m, "-o", "%d.jpg")
        done = self.zerorun("info", "%d.jpg", "--json", "--packets")
        self.assertEqual(json.loads(done.stdout)["packets"]["count"], 4)

    @needs_containers
    def test_numbers_by_an_index_are_called_that(self):
        """An index of AVI that lists 3 of 5 frames is not believed; what MOV says is said to be its word."""
        self.encode(make_y4m("in.y4m", frames=5), "-o", "in.avi")
        self.zerorun("copy", "in.avi", "-o", "in.mov")
        data = self.read("in.avi")
        at = data.index(b"idx1")
        self.assertEqual(int.from_bytes(data[at + 4:at + 8], "little"), 5 * 16)
        cut = data[:at] + b"idx1" + (3 * 16).to_bytes(4, "little") + data[at + 8:at + 8 + 3 * 16]
        self.write("lies.avi", cut[:4] + (len(cut) - 8).to_bytes(4, "little") + cut[8:])
        self.decode("lies.avi", "-o", "%d.ppm")
        self.assertTrue(pathlib.Path("5.ppm").exists())
        for name, by_index in (("lies.avi", False), ("in.mov", True), ("in.y4m", False), ("%d.ppm", False)):
            info = self.info(name)
            self.assertEqual((info["frames"], info["frames_by_index"]), (5, by_index), name)
            said = self.zerorun("info", name).stdout
            self.assertEqual(b"(by its index; --packets counts)" in said, by_index, name)
        counted = json.loads(self.zerorun("info", "in.mov", "--json", "--packets").stdout)
        self.assertEqual((counted["frames"], counted["frames_by_index"]), (5, False))

    def test_stdin(self):
        y4m = pathlib.Path(make_y4m("in.y4m", 32, 16, 3))
        out = "out.mjpeg"
        self.encode(y4m, "-o", out)
        for name, width in ((out, 32), (y4m, 32)):
            with open(name, "rb") as stream:
                done = self.zerorun("info", "-", "--json", stdin=stream)
            self.assertEqual(json.loads(done.stdout)["width"], width)
            done = self.zerorun("info", "-", "--json", input=self.read(name))
            self.assertEqual(json.loads(done.stdout)["width"], width)

    def test_devices(self):
        self.assertIn("cpu", self.zerorun("devices").stdout.decode())
        devices = json.loads(self.zerorun("devices", "--json").stdout)["devices"]
        self.assertGreaterEqual(devices[0]["threads"], 1)
        self.assertIn(devices[0]["instruction_set"], devices[0]["instruction_sets"])
        self.assertEqual(devices[0]["instruction_sets"][0], "scalar")
