# --compat rtp: streams that packetizers for RFC 2435 take, over loopback with FFmpeg and GStreamer.
# SPDX-License-Identifier: MIT
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import unittest

from support import ProgramTest, make_ppm, make_y4m, needs_containers, y4m_frames

HAS_GSTREAMER = bool(shutil.which("gst-launch-1.0")) and all(
    subprocess.run(["gst-inspect-1.0", name], capture_output=True).returncode == 0
    for name in ("rtpjpegpay", "rtpjpegdepay", "udpsink", "udpsrc", "multifilesrc"))
needs_gstreamer = unittest.skipUnless(HAS_GSTREAMER, "GStreamer's RTP elements are not installed")
FRAMES = 12


def free_port():
    """An even UDP port, because RTP takes the next one for RTCP."""
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            if probe.getsockname()[1] % 2 == 0:
                return probe.getsockname()[1]


class RtpTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.y4m = make_y4m("in.y4m", 64, 48, FRAMES)
        self.coded = "coded.mjpeg"
        self.encode(self.y4m, "-o", self.coded, "--compat", "rtp")

    def test_what_rfc_2435_cannot_carry_is_refused(self):
        for options, code, word in ((["--huffman", "optimal"], 2, "Huffman"),
                                    (["--huffman", "trained", "--tune", "photo"], 2, "Huffman"),
                                    (["--subsampling", "444"], 2, "4:2:2")):
            done = self.encode(self.y4m, "-o", "x.mjpeg", "--compat", "rtp", *options, code=code)
            self.assert_sentence(done, word)
        wide = make_ppm("wide.ppm", 2048, 8)
        self.assert_sentence(self.encode(wide, "-o", "x.jpg", "--compat", "rtp", code=4), "2040")

    def test_tuned_frames_get_the_tables_of_annex_k(self):
        for options in (["--tune", "photo"], ["--tune", "text", "--effort", "best"]):
            self.encode(self.y4m, "-o", "t.mjpeg", "-y", "--compat", "rtp", *options)
            self.encode(self.y4m, "-o", "s.mjpeg", "-y", "--huffman", "standard", "--restart", "none", *options)
            self.assertEqual(self.read("t.mjpeg"), self.read("s.mjpeg"))

    def test_what_nobody_asked_for_is_chosen(self):
        for tag in ("422", "444", "mono"):
            y4m = make_y4m(f"{tag}.y4m", 64, 48, 1, tag)
            self.encode(y4m, "-o", f"{tag}.jpg", "--compat", "rtp")
            data = self.read(f"{tag}.jpg")
            self.assertNotIn(b"\xff\xdd", data)  # DRI
            sof = data.index(b"\xff\xc0")
            self.assertEqual(data[sof + 9], 3)
            self.assertEqual(data[sof + 11], 0x21 if tag == "422" else 0x22)

    def check_received(self, received):
        """Every picture that arrived is one of those that were sent, sample by sample."""
        for name in (self.coded, received):
            self.decode(name, "-o", name + ".y4m", "-y")
        sent = y4m_frames(self.read(self.coded + ".y4m"))
        got = y4m_frames(self.read(received + ".y4m"))
        self.assertGreater(len(got), 0)
        for frame in got:
            self.assertIn(frame, sent)

    def relay(self, sender, receiver, received):
        """Sends until the receiver has a few pictures. Both are made of a port."""
        port = free_port()
        listening = subprocess.Popen(receiver(port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 40
            while time.monotonic() < deadline:
                subprocess.run(sender(port), capture_output=True, timeout=300, check=True)
                if pathlib.Path(received).is_file() and self.read(received).count(b"\xff\xd8") > 3:
                    break
            listening.send_signal(signal.SIGINT)
            listening.wait(timeout=300)
        finally:
            listening.kill()
            listening.wait()
        self.check_received(received)

    @needs_gstreamer
    @needs_containers
    def test_ffmpeg_sends_and_gstreamer_receives(self):
        received = "received.mjpeg"
        self.relay(
            lambda port: ["ffmpeg", "-v", "error", "-re", "-r", "25", "-i", self.coded, "-c", "copy", "-f", "rtp",
                          f"rtp://127.0.0.1:{port}"],
            lambda port: ["gst-launch-1.0", "-e", "udpsrc", "address=127.0.0.1", f"port={port}",
                          "caps=application/x-rtp,media=video,clock-rate=90000,encoding-name=JPEG,payload=26",
                          "!", "rtpjpegdepay", "!", "filesink", "buffer-mode=unbuffered",
                          f"location={received}"],
            received)

    @needs_gstreamer
    @needs_containers
    def test_gstreamer_sends_and_ffmpeg_receives(self):
        received = "received.mjpeg"
        (self.dir / "sent").mkdir()
        self.encode(self.y4m, "-o", "sent/%02d.jpg", "--compat", "rtp")

        def receiver(port):
            sdp = pathlib.Path("in.sdp")
            sdp.write_text("v=0\no=- 0 0 IN IP4 127.0.0.1\ns=zerorun\nc=IN IP4 127.0.0.1\nt=0 0\n"
                           f"m=video {port} RTP/AVP 26\n")
            return ["ffmpeg", "-nostdin", "-y", "-v", "error", "-protocol_whitelist", "file,udp,rtp",
                    "-flags", "low_delay", "-probesize", "32768", "-i", str(sdp), "-c", "copy",
                    "-flush_packets", "1", "-f", "mjpeg", received]
        self.relay(
            lambda port: ["gst-launch-1.0", "-q", "multifilesrc", f"location={self.path('sent/%02d.jpg')}",
                          "start-index=1", f"stop-index={FRAMES}",
                          "caps=image/jpeg,framerate=(fraction)25/1,width=64,height=48", "!",
                          "rtpjpegpay", "!", "udpsink",
                          "host=127.0.0.1", f"port={port}", "sync=false"],
            receiver, received)
