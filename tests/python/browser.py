"""A headless Chromium that opens a page and tells what happened, by its DevTools protocol over two pipes."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome-headless-shell")


def found():
    """The path of a browser, or None: one that the environment names, or one on PATH."""
    named = os.environ.get("SPARK_ZORDER_BROWSER")
    return named or next((path for path in map(shutil.which, NAMES) if path), None)


@contextmanager
def opened():
    """A browser with one empty page."""
    # its children write to the profile for a moment after it has ended
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as profile:
        to_browser, ours_out = os.pipe()
        ours_in, from_browser = os.pipe()

        def descriptors():
            # the protocol's two: commands on 3, answers on 4; ours may have these numbers already
            for fd, copy in ((3, _above(to_browser)), (4, _above(from_browser))):
                os.dup2(copy, fd)

        options = ["--headless=new", "--remote-debugging-pipe", f"--user-data-dir={profile}", "--no-sandbox"]
        options += ["--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking"]
        process = subprocess.Popen(
            [found(), *options, "about:blank"],
            preexec_fn=descriptors,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        try:
            yield Browser(ours_out, ours_in)
        finally:
            os.close(ours_out)
            process.terminate()
            process.wait(20)
            os.close(ours_in)


def _above(fd):
    """A copy with a higher number than the two that the protocol has."""
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD, 10)


class Browser:
    """One page and its events."""

    def __init__(self, out, into):
        self._out, self._in, self._held, self._number = out, into, b"", 0
        self.events = []
        target = self._call("Target.createTarget", {"url": "about:blank"}, None)["targetId"]
        attached = self._call("Target.attachToTarget", {"targetId": target, "flatten": True}, None)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """Sends one command and waits for its answer."""
        return self._call(method, parameters, self._session)

    def open(self, url, width, dark, height=900):
        """Loads a page at a width, in light or dark, and waits until it is loaded."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.events.clear()
        self.call("Page.navigate", url=url)
        self._wait("Page.loadEventFired")

    def value(self, expression):
        """What a JavaScript expression gives."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def picture(self):
        """The whole page as PNG."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        return base64.b64decode(answer["data"])

    def complaints(self):
        """Errors, warnings and exceptions of the page since it was opened."""
        named = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [event["params"] for event in self.events if event["method"] in named]

    def requests(self):
        """Addresses that were asked for since the page was opened."""
        sent = [event["params"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [event["request"]["url"] for event in sent]

    def _call(self, method, parameters, session):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def _wait(self, method):
        while not any(event["method"] == method for event in self.events):
            self._next()

    def _next(self, seconds=60):
        end = time.monotonic() + seconds
        while b"\0" not in self._held:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            chunk = os.read(self._in, 1 << 20)
            assert chunk, "the browser has ended"
            self._held += chunk
        text, _, self._held = self._held.partition(b"\0")
        message = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message
