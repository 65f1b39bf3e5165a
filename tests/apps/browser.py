# Drives Chromium by its own protocol over two pipes: clicks, keys, screenshots, paper.
# SPDX-License-Identifier: MIT
import base64
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")

KEYS = {"Tab": 9, "Enter": 13, " ": 32}


def remove_profile(process, folder):
    """Removes the profile of a browser that has ended and was started in a session of its own. Its
    helpers live a moment longer, and write."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    end = time.monotonic() + 60
    while os.path.exists(folder):
        try:
            shutil.rmtree(folder)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


class Browser:
    """One page of a headless browser."""

    def __init__(self, folder, width=1200, height=1600):
        to_browser, self.to = os.pipe()
        self.answers, from_browser = os.pipe()

        def use_pipes():  # the protocol reads from 3 and writes to 4
            ends = os.dup(to_browser), os.dup(from_browser)
            ends = [os.dup(end) if end in (3, 4) else end for end in ends]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)
        self.process = subprocess.Popen(
            [CHROMIUM, *OPTIONS, f"--user-data-dir={folder}", f"--window-size={width},{height}",
             "--remote-debugging-pipe", "about:blank"],
            close_fds=False, preexec_fn=use_pipes, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.folder = folder
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.count, self.session = b"", 0, None
        target = self.call("Target.createTarget", url="about:blank")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"],
                                 flatten=True)["sessionId"]
        self.call("Page.enable")
        self.resize(width, height)

    def close(self):
        os.close(self.to)
        os.close(self.answers)
        self.process.terminate()
        self.process.wait(300)
        remove_profile(self.process, self.folder)

    def message(self, end):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError("the browser does not answer")
            read = os.read(self.answers, 1 << 20)
            if not read:
                raise AssertionError("the browser has ended")
            self.buffer += read
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **params):
        self.count += 1
        request = {"id": self.count, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        end = time.monotonic() + 120
        while True:
            answer = self.message(end)
            if answer.get("id") != self.count:
                continue  # an event
            if "error" in answer:
                raise AssertionError(f"{method}: {answer['error']}")
            return answer["result"]

    def run(self, script):
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait_for(self, script, seconds=60):
        end = time.monotonic() + seconds
        while True:
            value = self.run(script)
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {script}")
            time.sleep(0.05)

    def open(self, address):
        self.call("Page.navigate", url=address)
        self.wait_for("document.body && document.body.dataset.ready")

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def reload(self):
        self.run("document.body.dataset.ready = ''")  # the old page is not the new one
        self.call("Page.reload")
        self.wait_for("document.body && document.body.dataset.ready")

    def click(self, selector):
        """A click of the mouse in the middle of the element."""
        x, y = self.run(f"""(() => {{
            const e = {selector};
            e.scrollIntoView({{block: "center", inline: "center"}});
            const box = e.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, name):
        code = KEYS[name]
        text = {"Enter": "\r", " ": " "}.get(name, "")
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, text=text,
                      windowsVirtualKeyCode=code)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, whole=False):
        return base64.b64decode(self.call("Page.captureScreenshot", format="png",
                                          captureBeyondViewport=whole)["data"])

    def paper(self):
        """The page as a PDF, on the paper that its style asks for."""
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True,
                                          printBackground=True)["data"])
