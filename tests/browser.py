"""A real browser without a window, driven through Chromium's debugging pipe."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of a browser; `with Browser() as browser:`."""

    def __enter__(self) -> Browser:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read_there, self._write = os.pipe()
        self._read, write_there = os.pipe()
        # The browser reads from 3 and writes to 4.
        command = [
            *("bash", "-c", f'exec "$@" 3<&{read_there} 4>&{write_there}', "browser", str(PROGRAM)),
            *("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"),
            *("--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars"),
            f"--user-data-dir={self._profile.name}",
        ]
        self._process = subprocess.Popen(
            command,
            pass_fds=(read_there, write_there),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_there)
        os.close(write_there)
        self._number, self._rest = 0, b""
        self._session: str | None = None
        self.requests: list[str] = []
        self.said: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)
        self._profile.cleanup()

    def call(self, method: str, **params: Any) -> Any:
        """One command of the protocol, and its answer; events meanwhile are noted."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + 60
        while True:
            answer = self._message(until)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self._note(answer)

    def _message(self, until: float) -> Any:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            part = os.read(self._read, 1 << 20)
            assert part, "the browser has ended"
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _note(self, event: Any) -> None:
        params = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif event.get("method") == "Runtime.exceptionThrown":
            self.said.append(str(params["exceptionDetails"]))
        elif event.get("method") == "Log.entryAdded":
            self.said.append(params["entry"]["text"])

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, script: str, seconds: float = 30) -> Any:
        """The value of an expression, when it is true."""
        until = time.monotonic() + seconds
        while not (found := self.run(script)):
            assert time.monotonic() < until, f"not true in {seconds} s: {script}; {self.said}"
            time.sleep(0.05)
        return found

    def open(self, url: str, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        """Go to a page."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def press(self, key: str, shift: bool = False) -> None:
        """A key, as from the keyboard."""
        codes = {"Tab": 9, "Enter": 13, "Home": 36, "End": 35, "ArrowLeft": 37, "ArrowRight": 39}
        code = codes.get(key) or (32 if key == " " else 0)
        text = {"Enter": "\r", " ": " "}.get(key)
        event = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": code}
        down = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
        modifiers = 8 if shift else 0
        self.call("Input.dispatchKeyEvent", **down, **event, modifiers=modifiers)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event, modifiers=modifiers)

    def poor_contrasts(self, selector: str, least: float, paint: str = "color") -> list[str]:
        """What stands out less from what is behind it: WCAG 2.2, 1.4.3 (4.5) and 1.4.11 (3)."""
        script = _CONTRASTS % (json.dumps(paint), json.dumps(selector), least)
        found: list[str] = self.run(script)
        return found

    def picture(self, path: Path, whole: bool = True) -> None:
        """What is seen, as PNG."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))


_CONTRASTS = r"""((paint, selector, least) => {
  const drawn = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const known = new Map();
  const light = (colour) => {
    if (known.has(colour)) return known.get(colour);
    drawn.fillStyle = colour;
    drawn.fillRect(0, 0, 1, 1);
    const parts = [...drawn.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v / 255)
      .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    known.set(colour, 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]);
    return known.get(colour);
  };
  const behind = (node) => {
    const colour = node ? getComputedStyle(node).backgroundColor : 'white';
    return /^rgba.*, 0\)$/.test(colour) ? behind(node.parentElement) : colour;
  };
  const poor = [];
  for (const node of document.querySelectorAll(selector)) {
    const words = [...node.childNodes].some((each) => each.nodeType === 3 && each.data.trim());
    if (!node.checkVisibility() || (paint === 'color' && !words)) continue;
    const colours = [getComputedStyle(node)[paint], behind(node)];
    const [dark, bright] = colours.map(light).sort((a, b) => a - b);
    const found = (bright + 0.05) / (dark + 0.05);
    if (found < least) poor.push(`${found.toFixed(2)} ${colours} ${node.outerHTML.slice(0, 120)}`);
  }
  return poor;
})(%s, %s, %s)"""
