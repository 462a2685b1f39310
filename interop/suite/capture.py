"""What went through the hub, and what Wireshark makes of it."""

import asyncio
import shutil
import signal
import subprocess

from .tool import Tool
from .verdict import Failed, Skipped


class CaptureFile:
    """A capture that is complete, as Wireshark reads it."""

    def __init__(self, path):
        self.path = str(path)

    async def packets(self, condition, *fields, options=()):
        """The fields of each packet that a display filter lets through."""
        command = ["tshark", "-n", "-r", self.path, "-Y", condition, *options, "-T", "fields", "-E", "separator=/t"]
        for field in fields or ("frame.number",):
            command += ["-e", field]
        # Other calls are up, and this can wait a little. Where Linux gives each session its share, its own has to be nice.
        modestly = 'echo 10 2>/dev/null >/proc/self/autogroup; exec nice "$@"'
        command = ["sh", "-c", modestly, "sh", *command]
        done = await asyncio.to_thread(
            subprocess.run, command, capture_output=True, text=True, timeout=30, start_new_session=True
        )
        if done.returncode != 0:
            raise Failed("tshark to read the capture", done.stderr.strip().splitlines()[-1:])
        return [line.split("\t") for line in done.stdout.splitlines()]

    async def media(self, host, *fields, condition="udp"):
        """RTP and RTCP that a host sent, protected or not: their first byte is 128 to 191 (RFC 7983)."""
        first = "udp.payload[0:1] >= 80 && udp.payload[0:1] <= bf"
        return await self.packets(f"ip.src == {host.address} && {condition} && {first}", *fields)


class Capture(Tool, CaptureFile):
    """Packets of the link to one side: all that it sends, and all that is sent to it."""

    program = "dumpcap"

    def __init__(self, call, side="left"):
        super().__init__(call, f"capture-{side}")
        self.path = str(call.folder / f"{side}.pcapng")
        self._side = side

    async def __aenter__(self):
        if shutil.which("tshark") is None:
            raise Skipped("tshark is not installed")
        await self._start("-i", self._side, "-q", "-w", self.path, ready="File:")
        return self

    async def __aexit__(self, *_):
        await self.end()

    async def end(self):
        """No packet after this is in it; `packets` wants it ended."""
        if self.process.returncode is None:
            # What was sent a moment ago is still on its way to the file.
            await asyncio.sleep(0.3)
            await self._stop(signal.SIGINT)
