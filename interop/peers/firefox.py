"""Headless Firefox as a peer: its page asks this program for what to do, over HTTP on the loopback interface.

Nothing of the browser is remote-controlled: the page fetches one request after the other and posts what happens.
"""

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from .browser import BrowserPeer
from .protocol import PeerError, not_supported, now

SCRIPTS = {f"/{name}": Path(__file__).with_name(name).read_bytes() for name in ("pictures.js", "browser.js")}

# How reports get out, and requests in. Reports keep their order: one batch is on its way at a time.
PAGE = b"""<!doctype html><meta charset="utf-8"><body><script>
"use strict";
const reports = [];
let posting = false;
async function post() {
  if (posting) return;
  posting = true;
  while (reports.length) await fetch("/report", { method: "POST", body: JSON.stringify(reports.splice(0)) });
  posting = false;
}
function report(text) { reports.push(JSON.parse(text)); post(); }
</script><script src="pictures.js"></script><script src="browser.js"></script><script>
addEventListener("load", async () => {
  for (;;) {
    const { number, method, parameters } = await (await fetch("/next")).json();
    // Requests go on beside each other, as they do in every peer.
    peer.call(method, parameters).then((outcome) => {
      reports.push({ answer: number, outcome });
      post();
    });
  }
});
</script>"""

PREFERENCES = {
    "media.autoplay.default": 0,
    "media.autoplay.block-webaudio": False,
    "media.autoplay.blocking_policy": 0,
    "media.navigator.permission.disabled": True,
    "network.proxy.type": 0,
    # Of its own accord it would call home.
    "app.normandy.enabled": False,
    "app.update.auto": False,
    "app.update.enabled": False,
    "browser.newtabpage.enabled": False,
    "browser.safebrowsing.downloads.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "browser.startup.page": 0,
    "datareporting.healthreport.uploadEnabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.push.enabled": False,
    "extensions.getAddons.cache.enabled": False,
    "extensions.systemAddon.update.enabled": False,
    "media.gmp-manager.updateEnabled": False,
    "media.gmp-provider.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.dns.disablePrefetch": True,
    "network.prefetch-next": False,
    "services.settings.server": "data:,",
    "signon.rememberSignons": False,
    "toolkit.telemetry.enabled": False,
    "toolkit.telemetry.unified": False,
}


def program():
    for name in (os.environ.get("FIREFOX"), "firefox-esr", "firefox"):
        if name and shutil.which(name):
            return shutil.which(name)
    raise not_supported("there is no firefox on this machine")


def agent():
    """Name and version: `Mozilla Firefox 140.5.0esr` becomes `Firefox 140.5.0esr`."""
    said = subprocess.run([program(), "--version"], capture_output=True, text=True, check=False).stdout
    return said.replace("Mozilla ", "").strip() or "Firefox"


class FirefoxPeer(BrowserPeer):
    def __init__(self, options):
        super().__init__(options)
        self._requests = asyncio.Queue()
        self._answers = {}
        self._number = 0
        self._offset = 0
        self._stopping = False
        self._browser = None
        self._sound = None
        self._server = None
        self._loaded = asyncio.get_running_loop().create_future()
        self._profile = tempfile.mkdtemp(prefix="firefox-peer-")

    # The browser

    def _write_preferences(self):
        preferences = dict(PREFERENCES)
        preferences["media.peerconnection.ice.obfuscate_host_addresses"] = self._options.mdns
        # A page that may use the microphone learns of every address, and not only of the one for the way out.
        preferences["permissions.default.microphone"] = 1 if self._options.microphone else 0
        preferences["media.peerconnection.ice.default_address_only"] = not self._options.microphone
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items())
        Path(self._profile, "user.js").write_text("".join(lines))

    async def _start_page(self, configuration):
        self._write_preferences()
        self._server = await asyncio.start_server(self._serve_http, "127.0.0.1", 0, limit=1 << 24)
        port = self._server.sockets[0].getsockname()[1]
        self._start_sound()
        environment = {**os.environ, "XDG_RUNTIME_DIR": self._profile, "HOME": self._profile, "MOZ_HEADLESS": "1", "MOZ_CRASHREPORTER_DISABLE": "1"}
        self._browser = subprocess.Popen(
            [program(), "--headless", "--no-remote", "--profile", self._profile, f"http://127.0.0.1:{port}/"],
            stdin=subprocess.DEVNULL, stdout=sys.stderr, stderr=sys.stderr, env=environment, start_new_session=True,
        )  # fmt: skip
        self._agent = await asyncio.to_thread(agent)
        asyncio.create_task(self._watch_browser())
        await asyncio.wait_for(self._loaded, 30)

    def _start_sound(self):
        """Firefox keeps Web Audio suspended where there is no sound card: it gets one that leads nowhere."""
        if not shutil.which("pulseaudio"):
            raise not_supported("there is no pulseaudio on this machine, and Firefox makes no sound without")
        self._sound = subprocess.Popen(
            [
                "pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disable-shm=yes",
                "--load=module-null-sink rate=48000", "--load=module-native-protocol-unix auth-anonymous=1",
            ],
            stdin=subprocess.DEVNULL, stdout=sys.stderr, stderr=sys.stderr, start_new_session=True,
            env={**os.environ, "HOME": self._profile, "XDG_RUNTIME_DIR": self._profile},
        )  # fmt: skip

    async def _watch_browser(self):
        await asyncio.to_thread(self._browser.wait)
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(PeerError("InvalidStateError", "the browser is gone"))
        if not self._stopping:
            await self.fail("the browser is gone")

    async def _serve_http(self, reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, path, _ = head[0].split(" ", 2)
                length = next((int(line[15:]) for line in head if line.lower().startswith("content-length:")), 0)
                body = await reader.readexactly(length)
                kind, answer = await self._respond(method, path, body)
                writer.write(
                    f"HTTP/1.1 {200 if kind else 404} -\r\nContent-Type: {kind or 'text/plain'}\r\n"
                    f"Cache-Control: no-store\r\nContent-Length: {len(answer)}\r\n\r\n".encode() + answer
                )
                await writer.drain()
        writer.close()

    async def _respond(self, method, path, body):
        if path == "/":
            return "text/html", PAGE
        if path in SCRIPTS:
            return "text/javascript", SCRIPTS[path]
        if path == "/next":
            return "application/json", json.dumps(await self._requests.get()).encode()
        if path == "/report" and method == "POST":
            for report in json.loads(body):
                self._on_report(report)
            return "text/plain", b""
        return None, b""

    def _on_report(self, report):
        if "answer" in report:
            answer = self._answers.pop(report["answer"], None)
            if answer and not answer.done():
                answer.set_result(report["outcome"])
        elif self._received(report):
            pass
        elif report["event"] == "loaded":
            # The page counts from its own start. What it said now it said a round trip on the loopback ago.
            self._offset = now() - report["timestamp"]
            if not self._loaded.done():
                self._loaded.set_result(None)
        else:
            self.emit(report.pop("event"), report.pop("timestamp") + self._offset, **report)

    async def stop(self):
        self._stopping = True
        if self._launch:
            self._launch.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await self._launch
        if self._loaded.done() and self._browser:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(self._call("close", {}), 2)
        if self._sound:
            self._sound.kill()
            self._sound.wait()
        if self._browser:
            for number, patience in ((signal.SIGTERM, 4), (signal.SIGKILL, 4)):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._browser.pid, number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    await asyncio.to_thread(self._browser.wait, patience)
                    break
        if self._server:
            self._server.close()
        self._close_files()
        shutil.rmtree(self._profile, ignore_errors=True)

    async def _ask(self, method, parameters):
        self._number += 1
        answer = self._answers[self._number] = asyncio.get_running_loop().create_future()
        self._requests.put_nowait({"number": self._number, "method": method, "parameters": parameters})
        return await answer


async def main():
    parser = argparse.ArgumentParser(prog="firefox", description=__doc__)
    parser.add_argument("--mdns", action="store_true", help="hide local addresses behind names, as for a page "
                        "without a permission")  # fmt: skip
    parser.add_argument("--microphone", action="store_true", help="as in a page that may use the microphone: "
                        "candidates for every interface, and not only for the way out")  # fmt: skip
    parser.add_argument("--data-channel", action="store_true", help="offer a data channel as well")
    parser.add_argument("--dtx", action="store_true", help="ask for Opus without packets in pauses, and send it so")
    await FirefoxPeer(parser.parse_args()).serve()


if __name__ == "__main__":
    asyncio.run(main())
