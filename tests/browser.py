"""A real headless Chromium, driven over a pipe by its own protocol: no driver, no package.

It is ``chromium`` on the path, or what ``INTEROP_CHROMIUM`` names.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.patience import HANGS

INSTALL = "apt-get update && apt-get install -y chromium, or name one with INTEROP_CHROMIUM"


class BrowserError(Exception):
    """The browser cannot be had, or did not do what it was told."""


def find() -> str | None:
    """Give the path of a Chromium, or None."""
    return shutil.which(os.environ.get("INTEROP_CHROMIUM") or "chromium")


class Tab:
    """One page in the browser."""

    def __init__(self, process: subprocess.Popen[bytes], to: int, answers: int) -> None:
        self._process = process
        self._to = os.fdopen(to, "wb", buffering=0)
        self._answers = os.fdopen(answers, "rb", buffering=0)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Log", "Network", "Runtime"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        self.call("Page.bringToFront")  # what is behind another one may never be drawn

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and give its answer; events are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._to.write(json.dumps(message).encode() + b"\0")
        while True:
            got = self._next()
            if got.get("id") == self._number:
                if "error" in got:
                    raise BrowserError(f"{method}: {got['error']}")
                result: dict[str, Any] = got["result"]
                return result
            self.events.append(got)

    def open(self, page: Path, fragment: str = "") -> None:
        """Load a file, and wait until it is there and drawn."""
        self.events.clear()
        gone_to = self.call("Page.navigate", url=page.resolve().as_uri() + fragment)
        assert "errorText" not in gone_to, gone_to
        # of this very page: the load of the one before may be told late
        while not any(_loaded(event, gone_to["loaderId"]) for event in self.events):
            self.events.append(self._next())
        self.drawn()

    def drawn(self) -> None:
        """Wait until what was done is drawn: before the first drawing, clicks go nowhere."""
        twice = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        self.call("Runtime.evaluate", expression=twice, awaitPromise=True)

    def ask(self, expression: str) -> Any:
        """Evaluate an expression on the page, from outside of it."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def draw_all(self) -> None:
        """Draw what the page leaves to when it is scrolled to."""
        self.ask(
            "document.querySelectorAll('.entry')"
            ".forEach(e => { e.style.contentVisibility = 'visible' })"
        )

    def click(self, selector: str) -> None:
        """Click with the mouse, in the middle of an element."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.ask(f"{found}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        self.drawn()  # what came into sight may have become as large as it is
        x, y = self.ask(
            f"(() => {{ const r = {found}.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.drawn()

    def size(self, width: int, height: int, scheme: str) -> None:
        """Set the window's size and whether the reader likes it ``light`` or ``dark``."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        likes = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=likes)

    def screenshot(self, file: Path) -> bytes:
        """Keep a picture of the whole page."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        picture = base64.b64decode(shot["data"])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(picture)
        return picture

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            got = self._answers.read(1 << 16)
            if not got:
                raise BrowserError("the browser went away")
            self._buffer += got
        message, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer


@contextmanager
def browser(program: str, profile: Path) -> Generator[Tab]:
    """Run the browser as long as the block takes."""
    command_read, command_write = os.pipe()
    answer_read, answer_write = os.pipe()
    # The protocol is spoken on descriptors 3 and 4, which a shell sets up.
    script = f'exec "$0" "$@" 3<&{command_read} 4>&{answer_write}'
    arguments = [
        "--headless=new",
        "--no-sandbox",  # as root there is none; the page is ours
        "--disable-gpu",
        "--hide-scrollbars",
        "--disable-dev-shm-usage",
        "--force-color-profile=srgb",
        "--no-first-run",
        "--allow-pre-commit-input",  # else a page that is slow to be drawn ignores the mouse
        "--disable-renderer-backgrounding",  # a page that nobody looks at is drawn as others are
        "--disable-background-timer-throttling",
        "--disable-backgrounding-occluded-windows",
        "--remote-debugging-pipe",
        f"--user-data-dir={profile}",
    ]
    log = profile.with_suffix(".log")
    with log.open("wb") as said:
        process = subprocess.Popen(
            ["bash", "-c", script, program, *arguments],
            pass_fds=(command_read, answer_write),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
    os.close(command_read)
    os.close(answer_write)
    # A browser that hangs is ended, and what waits for it learns that it went away.
    watchdog = threading.Timer(HANGS, process.kill)
    watchdog.start()
    try:
        yield Tab(process, command_write, answer_read)
    except BrowserError as error:
        tail = log.read_text(encoding="utf-8", errors="replace")[-2_000:]
        raise BrowserError(f"{error}\n{tail}") from error
    finally:
        process.terminate()
        process.wait()  # if need be, for the watchdog
        watchdog.cancel()


def _loaded(event: dict[str, Any], loader: str) -> bool:
    """Does an event say that a page has been loaded, with all that belongs to it?"""
    if event.get("method") != "Page.lifecycleEvent":
        return False
    said = event["params"]
    return bool(said["name"] == "load" and said["loaderId"] == loader)
