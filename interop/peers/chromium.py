"""Headless Chromium as a peer: real libwebrtc, driven over the DevTools protocol.

The protocol goes over two pipes (--remote-debugging-pipe), and the page comes from this folder through Fetch, so
that nothing needs a network: the browser can live in a network namespace of its own.
"""

import argparse
import asyncio
import base64
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from .browser import BrowserPeer
from .protocol import PeerError, not_supported, now

# AudioWorklet wants a secure context; this one is served by us and never looked up.
PAGE = "https://peer.invalid/"
FILES = {PAGE: ("text/html", b"<!doctype html><script src=pictures.js></script><script src=browser.js></script>")}
for script in ("pictures.js", "browser.js"):
    FILES[PAGE + script] = ("text/javascript", Path(__file__).with_name(script).read_bytes())

FLAGS = """
    --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --remote-debugging-pipe
    --autoplay-policy=no-user-gesture-required --mute-audio
    --disable-background-networking --disable-component-update --disable-sync --no-first-run --no-pings
    --no-proxy-server --disable-background-timer-throttling --disable-renderer-backgrounding
    --disable-backgrounding-occluded-windows --disable-extensions --disable-default-apps
""".split()

# Hosts that the browser may connect to by TCP; of its own accord it would call home.
SERVER = re.compile(r"^(?:stun|turn)s?:(\[[^]]+\]|[^:?]+)")


def resolver_rules(configuration):
    """Names lead nowhere, nor do addresses, but for those of the ICE servers."""
    urls = [server.get("urls", []) for server in configuration.get("iceServers") or []]
    hosts = [SERVER.match(url) for some in urls for url in ([some] if isinstance(some, str) else some)]
    return "--host-resolver-rules=" + " , ".join(["MAP * ~NOTFOUND", *(f"EXCLUDE {host[1]}" for host in hosts if host)])


def program():
    for name in (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"):
        if name and shutil.which(name):
            return shutil.which(name)
    raise not_supported("there is no chromium on this machine")


def agent(version):
    """Name and version, from what Browser.getVersion answers."""
    return version["product"].replace("Headless", "").replace("Chrome", "Chromium").replace("/", " ")


class DevTools:
    """A DevTools connection over file descriptors 3 and 4 of the browser: JSON ended by a zero byte."""

    def __init__(self, on_event):
        self._on_event = on_event
        self._pending = {}
        self._number = 0

    async def start(self, command, log):
        loop = asyncio.get_running_loop()
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        # The browser wants exactly these two numbers, and whatever we hold under them is not ours to break.
        run = f'exec "$@" 3<&{to_read} 4>&{from_write}'
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", run, "chromium", *command],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            pass_fds=(to_read, from_write), start_new_session=True,
        )  # fmt: skip
        os.close(to_read)
        os.close(from_write)
        self._reader = asyncio.StreamReader(limit=1 << 28)
        await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._reader), os.fdopen(from_read, "rb", buffering=0)
        )
        self._writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(to_write, "wb", buffering=0))
        self._task = asyncio.create_task(self._receive())

    async def send(self, method, session=None, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        answer = self._pending[self._number] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._writer.write(json.dumps(message).encode() + b"\0")
        return await answer

    async def _receive(self):
        try:
            while True:
                message = json.loads((await self._reader.readuntil(b"\0"))[:-1])
                if "id" in message:
                    answer = self._pending.pop(message["id"], None)
                    if answer is None or answer.done():
                        continue
                    if "error" in message:
                        answer.set_exception(PeerError("OperationError", message["error"]["message"]))
                    else:
                        answer.set_result(message["result"])
                else:
                    self._on_event(message["method"], message.get("params", {}))
        except (asyncio.IncompleteReadError, ConnectionError):
            for answer in self._pending.values():
                if not answer.done():
                    answer.set_exception(PeerError("InvalidStateError", "the browser is gone"))
            self._on_event("gone", {})

    async def stop(self):
        """Ends the browser, politely first, and whatever is left of its processes."""
        if not hasattr(self, "process"):
            return
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self.send("Browser.close"), 2)
        with contextlib.suppress(Exception):
            self._writer.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self.process.wait, 3)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._task.cancel()


class ChromiumPeer(BrowserPeer):
    def __init__(self, options):
        super().__init__(options)
        self._browser = DevTools(self._on_devtools_event)
        self._session = None
        self._offset = 0
        self._stopping = False
        self._loaded = asyncio.get_running_loop().create_future()
        self._profile = tempfile.mkdtemp(prefix="chromium-peer-")

    async def _start_page(self, configuration):
        hidden = [] if self._options.mdns else ["--disable-features=WebRtcHideLocalIpsWithMdns"]
        command = [
            program(), *FLAGS, resolver_rules(configuration), *hidden, *self._options.flag,
            f"--user-data-dir={self._profile}", "about:blank",
        ]  # fmt: skip
        await self._browser.start(command, sys.stderr)
        version = await self._browser.send("Browser.getVersion")
        self._agent = agent(version)
        targets = (await self._browser.send("Target.getTargets"))["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        attached = await self._browser.send("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        await self._browser.send("Page.enable", self._session)
        await self._browser.send("Runtime.enable", self._session)
        await self._browser.send("Runtime.addBinding", self._session, name="report")
        if self._options.microphone:
            await self._browser.send("Browser.grantPermissions", permissions=["audioCapture"], origin=PAGE)
        await self._browser.send("Fetch.enable", self._session, patterns=[{"urlPattern": "*"}])
        await self._browser.send("Page.navigate", self._session, url=PAGE)
        await asyncio.wait_for(self._loaded, 20)
        await self._set_offset()

    async def _set_offset(self):
        """The page counts from its own start; the shortest of a few round trips says when that was."""
        best = None
        for _ in range(5):
            before = now()
            page = await self._evaluate("performance.now()")
            after = now()
            if best is None or after - before < best:
                best, self._offset = after - before, (before + after) / 2 - page

    async def stop(self):
        self._stopping = True
        if self._launch:
            self._launch.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await self._launch
        if self._loaded.done() and self._session:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(self._call("close", {}), 2)
        await self._browser.stop()
        self._close_files()
        shutil.rmtree(self._profile, ignore_errors=True)

    async def _ask(self, method, parameters):
        return await self._evaluate(f"peer.call({json.dumps(method)}, {json.dumps(parameters)})")

    async def _evaluate(self, expression):
        answer = await self._browser.send(
            "Runtime.evaluate", self._session, expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise PeerError("OperationError", details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def _on_devtools_event(self, method, parameters):
        if method == "Runtime.bindingCalled":
            self._on_report(json.loads(parameters["payload"]))
        elif method == "Fetch.requestPaused":
            asyncio.create_task(self._serve_file(parameters))
        elif method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
            print(json.dumps(parameters), file=sys.stderr)
        elif method in ("gone", "Inspector.targetCrashed") and not self._stopping:
            asyncio.create_task(self.fail("the browser is gone" if method == "gone" else "the page crashed"))

    def _on_report(self, report):
        if self._received(report):
            return
        if report["event"] == "loaded":
            if not self._loaded.done():
                self._loaded.set_result(None)
        else:
            self.emit(report.pop("event"), report.pop("timestamp") + self._offset, **report)

    async def _serve_file(self, parameters):
        url, request = parameters["request"]["url"], parameters["requestId"]
        with contextlib.suppress(PeerError):
            if url not in FILES:
                await self._browser.send(
                    "Fetch.failRequest", self._session, requestId=request, errorReason="AddressUnreachable"
                )
                return
            kind, body = FILES[url]
            await self._browser.send(
                "Fetch.fulfillRequest", self._session, requestId=request, responseCode=200,
                responseHeaders=[{"name": "Content-Type", "value": kind}], body=base64.b64encode(body).decode(),
            )  # fmt: skip


async def main():
    parser = argparse.ArgumentParser(prog="chromium", description=__doc__)
    parser.add_argument("--mdns", action="store_true", help="hide local addresses behind names, as for a page "
                        "without a permission")  # fmt: skip
    parser.add_argument("--microphone", action="store_true", help="as in a page that may use the microphone: "
                        "candidates for every interface, and not only for the way out")  # fmt: skip
    parser.add_argument("--data-channel", action="store_true", help="offer a data channel as well")
    parser.add_argument("--dtx", action="store_true", help="ask for Opus without packets in pauses, and send it so, as a "
                        "page does that writes usedtx=1 into descriptions")
    parser.add_argument("--flag", action="append", default=[], metavar="FLAG", help="a further flag of the browser")
    await ChromiumPeer(parser.parse_args()).serve()


if __name__ == "__main__":
    asyncio.run(main())
