"""The page of `callsim live --serve` in a browser, used as a person uses it: what is looked at and pressed is on it."""

import asyncio
import contextlib
import json
import shutil
import tempfile
import time

from peers import chromium

from . import sound
from .verdict import Failed, expect

# Its microphone is a file, and nobody has to be asked for it.
_MICROPHONE = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")


class Page:
    """Headless Chromium on a host, with one page open."""

    # Whether it is ready for the call.
    is_up = False

    def __init__(self, call, host, url, melody):
        self._network, self._folder, self._host, self._url, self._melody = call.network, call.folder, host, url, melody
        self._browser = chromium.DevTools(self._on_event)
        self._call = call
        call.tools.append(self)
        self._profile = tempfile.mkdtemp(prefix="chromium-page-")
        # What the page threw and nobody caught.
        self.exceptions = []

    def __str__(self):
        return "the browser"

    @property
    def process_number(self):
        """Of the browser while it runs; nil before and after."""
        process = getattr(self._browser, "process", None)
        return process.pid if process and process.returncode is None else None

    async def __aenter__(self):
        try:
            async with self._call.starting():
                await self._open()
            self.is_up = True
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def _open(self):
        self._log = open(self._folder / "page.log", "wb")
        microphone = str(self._folder / "page-says.wav")
        await asyncio.to_thread(sound.write_melody, microphone, self._melody)
        command = self._network.inside(
            self._host, chromium.program(), *chromium.FLAGS, *_MICROPHONE,
            f"--use-file-for-fake-audio-capture={microphone}", f"--user-data-dir={self._profile}", "about:blank",
        )  # fmt: skip
        await self._browser.start(command, self._log)
        version = await self._browser.send("Browser.getVersion")
        self.agent = chromium.agent(version)
        targets = (await self._browser.send("Target.getTargets"))["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        attached = await self._browser.send("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        await self._browser.send("Runtime.enable", self._session)
        opened = await self._browser.send("Page.navigate", self._session, url=self._url)
        expect("errorText" not in opened, f"{self._url} to open", opened.get("errorText"))
        await self.until("document.readyState == 'complete' && document.getElementById('call') != null", "the page to load")

    async def __aexit__(self, *_):
        await self._browser.stop()
        self._log.close()
        shutil.rmtree(self._profile, ignore_errors=True)

    def _on_event(self, method, parameters):
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.exceptions.append(details.get("exception", {}).get("description") or details["text"])

    async def evaluate(self, expression):
        answer = await self._browser.send("Runtime.evaluate", self._session, expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise Failed(f"{expression} to have a value", answer["exceptionDetails"]["text"])
        return answer["result"].get("value")

    async def text(self, identifier):
        return await self.evaluate(f"document.getElementById({json.dumps(identifier)}).innerText")

    async def press(self, identifier):
        """A click of the mouse in the middle of a button, which must be there to be hit."""
        x, y = await self.evaluate(f"""(() => {{
          const {{ x, y, width, height }} = document.getElementById({json.dumps(identifier)}).getBoundingClientRect()
          return [x + width / 2, y + height / 2]
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            await self._browser.send("Input.dispatchMouseEvent", self._session, type=kind, x=x, y=y, button="left",
                                     clickCount=1)  # fmt: skip

    async def until(self, condition, what, within=10.0):
        """Waits until an expression is true, and returns its value."""
        deadline = time.monotonic() + within
        while True:
            with contextlib.suppress(Failed):
                if value := await self.evaluate(condition):
                    return value
            if time.monotonic() > deadline:
                log = "" if self.exceptions else await self.evaluate("document.getElementById('log')?.innerText ?? ''")
                raise Failed(f"{what} within {within:g} s", f"the page says {self.exceptions or log!r}")
            await asyncio.sleep(0.1)
