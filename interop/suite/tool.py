"""Programs that run beside a call: a TURN server, a capture."""

import asyncio
import contextlib
import os
import shutil
import signal

from .verdict import Failed, Skipped


class Tool:
    """A program that runs on a host, the hub if none is named, until it is told to end."""

    program = ""
    process = None
    # Whether it is ready for the call.
    is_up = False

    def __init__(self, call, name, host=None):
        self._network, self._host = call.network, host or call.network.hub
        self.log = call.folder / f"{name}.log"
        call.tools.append(self)

    def __str__(self):
        return os.path.basename(self.program)

    @property
    def process_number(self):
        """Of the program while it runs; nil before and after."""
        return self.process.pid if self.process and self.process.returncode is None else None

    async def _start(self, *arguments, ready, within=8.0):
        """Starts it, and waits for a text in what it says."""
        path = shutil.which(self.program)
        if path is None:
            raise Skipped(f"{self.program} is not installed")
        self._output = open(self.log, "wb")
        command = self._network.inside(self._host, path, *arguments)
        self.process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stdout=self._output, stderr=self._output, start_new_session=True
        )
        for _ in range(int(within / 0.05)):
            await asyncio.sleep(0.05)
            if ready in self.said():
                self.is_up = True
                return
            if self.process.returncode is not None:
                break
        await self._stop()
        raise Failed(f"{self.program} to start", f"it said {self.said()[-300:]!r}")

    def said(self):
        return self.log.read_text(errors="replace")

    async def _stop(self, with_signal=signal.SIGTERM):
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(with_signal)
            try:
                await asyncio.wait_for(self.process.wait(), 4)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.process.pid, signal.SIGKILL)
                await self.process.wait()
        self._output.close()
        return self.process.returncode
