"""Chromium without a window, spoken to through two pipes in its debugging protocol: no port, no library."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 60  # for one command


def find():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self, path):
        self.folder = tempfile.mkdtemp()
        to_browser, self.to = os.pipe()
        self.fro, from_browser = os.pipe()
        # The browser's ends are its descriptors 3 and 4. A shell moves them there, whatever numbers they have here.
        args = [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--hide-scrollbars", "--no-first-run", "--user-data-dir=" + self.folder,
                "--remote-debugging-pipe", "about:blank"]
        move = 'exec "$0" "$@" 3<&%d 4>&%d' % (to_browser, from_browser)
        self.process = subprocess.Popen(["bash", "-c", move] + args, pass_fds=(to_browser, from_browser),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.left, self.number, self.events = b"", 0, []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.page(domain + ".enable")

    def receive(self, end):
        while b"\0" not in self.left:
            ready = select.select([self.fro], [], [], max(0, end - time.monotonic()))[0]
            part = os.read(self.fro, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError("the browser did not answer")
            self.left += part
        line, self.left = self.left.split(b"\0", 1)
        return json.loads(line)

    def send(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data, end = json.dumps(message).encode() + b"\0", time.monotonic() + SECONDS
        while data:
            data = data[os.write(self.to, data):]
        while True:
            got = self.receive(end)
            if got.get("id") == self.number:
                if "error" in got:
                    raise RuntimeError(method + ": " + got["error"]["message"])
                return got["result"]
            self.events.append(got)

    def page(self, method, **params):
        return self.send(method, self.session, **params)

    def run(self, expression):
        """The value of a JavaScript expression in the page; promises are waited for."""
        got = self.page("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            detail = got["exceptionDetails"]
            raise RuntimeError(detail.get("exception", {}).get("description", detail["text"]))
        return got["result"].get("value")

    def open(self, url, width, dark=False, height=900, script=True):
        self.page("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        self.page("Emulation.setEmulatedMedia", media="",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.page("Emulation.setScriptExecutionDisabled", value=not script)
        self.events = []
        self.page("Page.navigate", url=url)
        end = time.monotonic() + SECONDS
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.receive(end))

    def key(self, key, code=None):
        for kind in ("keyDown", "keyUp"):
            self.page("Input.dispatchKeyEvent", type=kind, key=key, code=code or key,
                      windowsVirtualKeyCode={"Enter": 13, "Tab": 9, "Escape": 27}.get(key, 0),
                      text="\r" if key == "Enter" and kind == "keyDown" else "")

    def picture(self, path, whole=False):
        got = self.page("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as f:
            f.write(base64.b64decode(got["data"]))

    def complaints(self):
        """What the page logged, threw, or asked the network for."""
        said = []
        for e in self.events:
            name, p = e.get("method"), e.get("params", {})
            if name == "Runtime.exceptionThrown":
                said.append("exception: " + p["exceptionDetails"]["text"])
            elif name == "Log.entryAdded":
                said.append("log: " + p["entry"]["text"])
            elif name == "Runtime.consoleAPICalled":
                said.append("console: " + str(p["args"]))
            elif name == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("file:", "data:")):
                said.append("request: " + p["request"]["url"][:100])
        return said

    def close(self):
        try:
            self.send("Browser.close")
        except (RuntimeError, OSError):
            pass
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
