# Cameras and networks as INPUT: a server on the loopback address, what it may not lead to, how it may end; and
# --compat rtp: streams that packetizers for RFC 2435 take, over loopback with FFmpeg and GStreamer.
# SPDX-License-Identifier: MIT
import http.server
import os
import pathlib
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import threading
import time
import unittest

from support import PROGRAM, ProgramTest, ffmpeg, make_ppm, make_y4m, needs_containers, video_stream, y4m_frames

PART = b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n%s\r\n"


class Handler(http.server.BaseHTTPRequestHandler):
    """/live: parts without an end; /parts/N: N parts; /short: cut in the middle; /quiet: one part and then nothing;
    anything else: a file of the server's folder."""

    def log_message(self, *_):
        pass

    def begin(self, kind="multipart/x-mixed-replace; boundary=frame", length=None):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def do_GET(self):
        server = self.server
        server.asked.append(self.path)
        parts = [PART % (len(jpeg), jpeg) for jpeg in server.jpegs]
        try:
            if self.path.startswith("/parts/"):
                self.begin()
                for i in range(int(self.path.split("/")[2])):
                    self.wfile.write(parts[i % len(parts)])
            elif self.path == "/live":
                self.begin()
                for i in range(1_000_000):
                    self.wfile.write(parts[i % len(parts)])
                    time.sleep(0.02)
            elif self.path == "/short":
                body = b"".join(parts[:3])
                self.begin(length=len(body) + 100000)
                self.wfile.write(body + parts[3][:-200])
            elif self.path == "/quiet":
                self.begin()
                self.wfile.write(parts[0] + parts[1])
                server.hold.wait(120)
            else:
                data = (server.folder / self.path[1:]).read_bytes()
                begin = int(self.headers.get("Range", "bytes=0-").split("=")[1].split("-")[0])
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
                self.send_header("Content-Length", str(len(data) - begin))
                self.end_headers()
                self.wfile.write(data[begin:])
        except FileNotFoundError:
            self.send_error(404)
        except OSError:
            pass


class RtspCamera(threading.Thread):
    """Sends JPEGs of 4:2:0 with the tables of Annex K.3 again and again, through one RTSP connection (RFC 2326, 2435).
    `asked` has the methods of its clients."""

    SDP = b"v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=camera\r\nt=0 0\r\nm=video 0 RTP/AVP 26\r\na=control:track\r\n"

    def __init__(self, jpegs, limit=1_000_000):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"rtsp://127.0.0.1:{self.listener.getsockname()[1]}/live"
        self.jpegs, self.limit, self.asked = jpegs, limit, []
        self.start()

    def run(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client:
                try:
                    self.serve(client)
                except OSError:
                    pass

    def serve(self, client):
        reader = client.makefile("rb")
        while line := reader.readline():
            method, headers = line.split(b" ")[0], {}
            while (field := reader.readline().strip()):
                name, _, value = field.partition(b":")
                headers[name.lower()] = value.strip()
            self.asked.append(method.decode())
            reply = b"RTSP/1.0 200 OK\r\nCSeq: " + headers[b"cseq"] + b"\r\nSession: 1\r\n"
            body = self.SDP if method == b"DESCRIBE" else b""
            if method == b"OPTIONS":
                reply += b"Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n"
            if method == b"SETUP":
                reply += b"Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n"
            if body:
                reply += b"Content-Type: application/sdp\r\nContent-Length: %d\r\n" % len(body)
            client.sendall(reply + b"\r\n" + body)
            if method == b"PLAY":
                return self.send_frames(client)

    def send_frames(self, client):
        number = 0
        for i in range(self.limit):
            jpeg = self.jpegs[i % len(self.jpegs)]
            sof, scan = jpeg.index(b"\xff\xc0"), jpeg.index(b"\xff\xda")
            height, width = struct.unpack(">HH", jpeg[sof + 5:sof + 9])
            tables = b"".join(jpeg[at + 5:at + 69] for at in range(scan) if jpeg[at:at + 4] == b"\xff\xdb\0\x43")
            assert len(tables) == 128 and jpeg[sof + 11] == 0x22
            data = jpeg[scan + 2 + int.from_bytes(jpeg[scan + 2:scan + 4], "big"):-2]
            for at in range(0, len(data), 1000):
                head = struct.pack(">II", at, 1 << 24 | 255 << 16 | width // 8 << 8 | height // 8)
                if at == 0:
                    head += struct.pack(">HH", 0, len(tables)) + tables
                last = at + 1000 >= len(data)
                packet = struct.pack(">BBHII", 0x80, 26 | last << 7, number & 0xFFFF, 3600 * i, 7) + head
                packet += data[at:at + 1000]
                client.sendall(b"$\0" + struct.pack(">H", len(packet)) + packet)
                number += 1
            time.sleep(0.02)


@needs_containers
class NetworkTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.env = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
        self.encode(make_y4m("in.y4m", frames=4), "-o", "in%d.jpg")
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.asked, self.server.folder, self.server.hold = [], self.dir, threading.Event()
        self.server.jpegs = [self.read(f"in{i}.jpg") for i in (1, 2, 3, 4)]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.addCleanup(self.server.hold.set)

    def url(self, path):
        return f"http://127.0.0.1:{self.server.server_port}/{path}"

    def run_on(self, command, path, *arguments, code=0, **options):
        return self.zerorun(command, self.url(path) if "://" not in path else path, *arguments, code=code,
                            env=self.env, **options)

    def frames(self, name):
        return video_stream(name)["nb_read_frames"]

    def test_a_camera(self):
        self.run_on("copy", "parts/6", "-o", "a.mov")
        self.assertEqual(self.frames("a.mov"), "6")
        self.run_on("copy", "live", "-o", "b%d.jpg", "--frames", "4")
        for i in range(4):
            self.assertEqual(self.read(f"b{i + 1}.jpg"), self.server.jpegs[i])
        self.run_on("encode", "live", "-o", "c.mkv", "--frames", "5", "--device", "cpu")
        self.assertEqual(self.frames("c.mkv"), "5")
        self.run_on("decode", "live", "-o", "d.y4m", "--frames", "3", "--device", "cpu")
        self.assertEqual(self.frames("d.y4m"), "3")
        self.run_on("play", "parts/3", "--no-window", "--device", "cpu")

    def test_duration(self):
        self.run_on("copy", "live", "-o", "a.avi", "--duration", "0.4")
        self.assertIn(int(self.frames("a.avi")), range(1, 11))
        self.encode(make_y4m("b.y4m", frames=50), "-o", "b.mov", "--duration", "0.6")
        self.assertEqual(self.frames("b.mov"), "15")

    def test_an_interrupt_writes_a_whole_file(self):
        process = subprocess.Popen([PROGRAM, "copy", self.url("live"), "-o", "a.mov"], env=self.env,
                                   stderr=subprocess.PIPE)
        part = pathlib.Path("a.mov.part")
        self.wait_until(lambda: part.exists() and part.stat().st_size > 20000)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertGreater(int(self.frames("a.mov")), 2)

    def test_the_end_of_a_connection(self):
        self.assertIn(b"connection was lost", self.run_on("copy", "short", "-o", "a.mov").stderr)
        self.assertEqual(self.frames("a.mov"), "3")
        for command in ("copy", "encode"):
            done = self.run_on(command, "quiet", "-o", "b.mkv", "-y", "--timeout", "1")
            self.assertIn(b"nothing came for 1 second", done.stderr)
            self.assertIn(int(self.frames("b.mkv")), (1, 2))
        self.assert_sentence(self.run_on("copy", "absent", "-o", "c.mov", code=3), "404")
        self.assert_nothing_left("c.mov")
        listener = socket.create_server(("127.0.0.1", 0))  # accepts and says nothing
        self.addCleanup(listener.close)
        silent = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        self.assert_sentence(self.run_on("copy", silent, "-o", "c.mov", "--timeout", "1", code=3), "nothing came")
        listener.close()
        self.assert_sentence(self.run_on("copy", silent, "-o", "c.mov", code=3), "refused")

    def test_files_of_a_server(self):
        """Containers, also with the index at the end, pictures and other video."""
        self.encode("in.y4m", "-o", "in.mov")
        self.run_on("copy", "in.mov", "-o", "a%d.jpg")
        self.assertEqual(self.read("a4.jpg"), self.server.jpegs[3])
        self.encode(make_y4m("long.y4m", 320, 240, frames=40), "-o", "long.mov", "-q", "98")
        self.assertGreater(os.path.getsize("long.mov"), 300_000)  # more than FFmpeg keeps of what it has read
        self.run_on("copy", "long.mov", "-o", "long%d.jpg")
        self.assertTrue(os.path.exists("long40.jpg"))
        ffmpeg("-i", "in.y4m", "-c:v", "mpeg4", "in.mkv")
        self.run_on("encode", "in.mkv", "-o", "b.mov", "--device", "cpu")
        self.assertEqual(self.frames("b.mov"), "4")
        self.run_on("decode", "in1.jpg", "-o", "c/", "--device", "cpu")
        self.assertTrue(os.path.exists("c/in1.png"))

    def test_no_address_leads_to_another(self):
        """Playlists and lists name addresses, which are not asked; in files and behind addresses."""
        other = self.url("parts/2")
        self.encode("in.y4m", "-o", "in.mov")
        ffmpeg("-i", "in.mov", "-c:v", "mpeg2video", "-f", "mpegts", "in.ts")
        playlists = {"a.m3u8": f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{self.url('in.ts')}\n#EXT-X-ENDLIST\n",
                     "b.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nin.ts\n#EXT-X-ENDLIST\n",
                     "c.ffconcat": f"ffconcat version 1.0\nfile '{self.url('in.mov')}'\n",
                     "d.sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 26\n"}
        for name, text in playlists.items():
            self.write(name, text)
            for source in (name, self.url(name)):
                if source == name and name == "b.m3u8":
                    continue  # names a file
                self.server.asked.clear()
                done = self.encode(source, "-o", "x.mov", code=3, env=self.env)
                self.assertEqual(set(self.server.asked) - {"/" + name}, set(), done.stderr)
                self.assert_nothing_left("x.mov")
        self.write("list.txt", other + "\n")
        self.server.asked.clear()
        self.encode("@" + "list.txt", "-o", "x.mov", code=3, env=self.env)
        self.assertEqual(self.server.asked, [])

    def test_udp(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        sender = subprocess.Popen(["ffmpeg", "-v", "quiet", "-re", "-f", "lavfi", "-i", "testsrc=s=64x48:r=25", "-c:v",
                                   "mpeg2video", "-g", "5", "-f", "mpegts", f"udp://127.0.0.1:{port}"],
                                  stdin=subprocess.DEVNULL)
        self.addCleanup(sender.wait)
        self.addCleanup(sender.kill)
        self.run_on("encode", f"udp://127.0.0.1:{port}", "-o", "a.mov", "--frames", "5", "--device", "cpu")
        self.assertEqual(self.frames("a.mov"), "5")
        sender.kill()
        self.assert_sentence(self.run_on("encode", f"udp://127.0.0.1:{port}", "-o", "b.mov", "--timeout", "1",
                                         "--device", "cpu", code=3), "nothing came")

    def test_rtsp(self):
        """A whole file by --frames, and when the camera ends; the samples are those that were sent."""
        self.encode(make_y4m("rtp.y4m", frames=4), "-o", "rtp%d.jpg", "--compat", "rtp")
        names = [f"rtp{i}.jpg" for i in (1, 2, 3, 4)]
        camera = RtspCamera([self.read(name) for name in names])
        self.addCleanup(camera.listener.close)
        self.run_on("copy", camera.url, "-o", "got%d.jpg", "--frames", "3")
        self.assertEqual(camera.asked[:3], ["OPTIONS", "DESCRIBE", "SETUP"])

        def planes(name):
            self.decode(name, "-o", "one.y4m", "-y")
            return self.read("one.y4m").split(b"FRAME", 1)[1]
        sent = [planes(name) for name in names]
        got = [sent.index(planes(f"got{i}.jpg")) for i in (1, 2, 3)]
        self.assertEqual([(at + 1) % 4 for at in got[:2]], got[1:])
        self.run_on("encode", camera.url, "-o", "a.mov", "--duration", "0.3", "--device", "cpu")
        self.assertGreater(int(self.frames("a.mov")), 0)
        short = RtspCamera(camera.jpegs, limit=8)
        self.addCleanup(short.listener.close)
        self.run_on("copy", short.url, "-o", "b.mkv", "--timeout", "2")
        self.assertIn(int(self.frames("b.mkv")), range(4, 9))

    @unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
    def test_https(self):
        """A server whose certificate nobody vouches for is refused; where it is trusted, its frames arrive."""
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out",
                        "cert.pem"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("cert.pem", "key.pem")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        address = f"https://localhost:{self.server.server_port}/parts/3"
        self.assert_sentence(self.run_on("copy", address, "-o", "a.mov", code=3), "localhost")
        self.assertEqual(self.server.asked, [])
        self.assert_nothing_left("a.mov")
        trusted = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
        inside = ["unshare", "-rm", "sh", "-c", f'mount --bind "$0" {trusted} && exec "$@"', "cert.pem"]
        if not trusted.exists() or subprocess.run([*inside, "true"], capture_output=True).returncode != 0:
            self.skipTest("no name space in which another certificate is trusted")
        subprocess.run([*inside, PROGRAM, "copy", address, "-o", "b%d.jpg"], check=True, env=self.env,
                       capture_output=True)
        self.assertEqual([self.read(f"b{i}.jpg") for i in (1, 2, 3)], self.server.jpegs[:3])

    def test_cameras_that_are_not_there(self):
        for name in ("v4l2:/dev/video99", "v4l2:" + "in.y4m"):
            self.assert_sentence(self.encode(name, "-o", "a.mov", code=3), name)
            self.assert_nothing_left("a.mov")
        (self.dir / "v4l2:").mkdir()
        shutil.copy("in.y4m", "v4l2:/in.y4m")  # a word that names a device names no file
        self.zerorun("encode", "v4l2:/in.y4m", "-o", "a.mov", code=3, cwd=self.dir)
        self.assert_sentence(self.encode("rtsp://127.0.0.1:1/x", "-o", "a.mov", "--timeout", "5", code=3), "refused")

    def test_in_the_sandbox(self):
        if b"not" in self.zerorun("info", "in1.jpg", "--sandbox", code=None).stderr:
            self.skipTest("no sandbox here")
        self.run_on("copy", "parts/3", "-o", "a.mov", "--sandbox")
        self.assertEqual(self.frames("a.mov"), "3")


class NoSocketTest(ProgramTest):
    @needs_containers
    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_no_socket_without_an_address(self):
        make_y4m("in.y4m")
        for arguments in (("encode", "in.y4m", "-o", "a.mov", "--device", "cpu"), ("copy", "a.mov", "-o", "a.mkv")):
            subprocess.run(["strace", "-f", "-e", "trace=network", "-o", "log", PROGRAM, *arguments], check=True,
                           capture_output=True)
            self.assertNotIn("AF_INET", self.read("log").decode())


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
            self.assert_sentence(self.encode(self.y4m, "-o", "x.mjpeg", "--compat", "rtp", *options, code=code), word)
        wide = make_ppm("wide.ppm", 2048, 8)
        self.assert_sentence(self.encode(wide, "-o", "x.jpg", "--compat", "rtp", code=4), "2040")

    def test_tuned_frames_get_the_tables_of_annex_k(self):
        for options in (["--tune", "photo"], ["--tune", "text", "--effort", "best"]):
            self.encode(self.y4m, "-o", "t.mjpeg", "-y", "--compat", "rtp", *options)
            self.encode(self.y4m, "-o", "s.mjpeg", "-y", "--huffman", "standard", "--restart", "none", *options)
            self.assertEqual(self.read("t.mjpeg"), self.read("s.mjpeg"))

    def test_what_nobody_asked_for_is_chosen(self):
        for tag in ("422", "444", "mono"):
            self.encode(make_y4m(f"{tag}.y4m", 64, 48, 1, tag), "-o", f"{tag}.jpg", "--compat", "rtp")
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
        (self.dir / "sent").mkdir()
        self.encode(self.y4m, "-o", "sent/%02d.jpg", "--compat", "rtp")

        def receiver(port):
            sdp = pathlib.Path("in.sdp")
            sdp.write_text("v=0\no=- 0 0 IN IP4 127.0.0.1\ns=zerorun\nc=IN IP4 127.0.0.1\nt=0 0\n"
                           f"m=video {port} RTP/AVP 26\n")
            return ["ffmpeg", "-nostdin", "-y", "-v", "error", "-protocol_whitelist", "file,udp,rtp",
                    "-flags", "low_delay", "-probesize", "32768", "-analyzeduration", "300000", "-i", str(sdp),
                    "-c", "copy", "-flush_packets", "1", "-f", "mjpeg", "received.mjpeg"]
        self.relay(
            lambda port: ["gst-launch-1.0", "-q", "multifilesrc", f"location={self.path('sent/%02d.jpg')}",
                          "start-index=1", f"stop-index={FRAMES}",
                          "caps=image/jpeg,framerate=(fraction)25/1,width=64,height=48", "!",
                          "rtpjpegpay", "!", "udpsink",
                          "host=127.0.0.1", f"port={port}", "sync=false"],
            receiver, "received.mjpeg")
