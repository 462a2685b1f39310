"""What the drivers of stacks without a sound card of their own share: what to play, and how to record what is heard."""

import asyncio
import contextlib
import math
import struct
import time

from . import wav
from .protocol import PeerError

SAMPLES_PER_FRAME = wav.SAMPLE_RATE // 50
FRAME_BYTES = SAMPLES_PER_FRAME * 2
SILENCE = bytes(FRAME_BYTES)


class Pace:
    """Wakes every 20 ms, by the clock and not by how long the work took. Whoever is late catches up, four times as
    fast as usual and not all at once: what arrived meanwhile has to be read in between."""

    def __init__(self, period=0.02):
        self._period, self._next = period, None

    async def wait(self):
        current = time.monotonic()
        if self._next is None or current - self._next > 1:
            self._next = current
        self._next += self._period
        await asyncio.sleep(max(self._period / 4, self._next - current))


class Loop:
    """Samples that are played again and again, in pieces of a frame; silence where there are none."""

    def __init__(self, samples):
        self._samples, self._position = samples, 0

    def next(self):
        if not self._samples:
            return SILENCE
        chunk = bytearray()
        while len(chunk) < FRAME_BYTES:
            part = self._samples[self._position : self._position + FRAME_BYTES - len(chunk)]
            chunk += part
            self._position = (self._position + len(part)) % len(self._samples)
        return bytes(chunk)


def samples_of(play):
    """The loop to play: a second of tone, which is a whole number of periods, or a file."""
    if not play:
        return b""
    if "wav" in play:
        try:
            return wav.read(play["wav"])
        except (OSError, EOFError, ValueError) as problem:
            raise PeerError("NotReadableError", f"cannot play {play['wav']}: {problem}") from None
    step = 2 * math.pi * play["tone"] / wav.SAMPLE_RATE
    return struct.pack(f"<{wav.SAMPLE_RATE}h", *(round(16384 * math.sin(step * n)) for n in range(wav.SAMPLE_RATE)))


class Listener:
    """Writes what is heard in real time: the sum of all remote tracks, and silence where nothing has come."""

    # What was decoded comes when its packet came; this much is kept back to even that out.
    START = 5 * FRAME_BYTES

    def __init__(self, path):
        self._recording = wav.Recording(path)
        self._waiting = {}
        self._playing = set()
        self._task = asyncio.create_task(self._run())

    def hear(self, track, samples):
        buffer = self._waiting.setdefault(track, bytearray())
        buffer += samples
        if len(buffer) >= self.START:
            self._playing.add(track)

    async def _run(self):
        pace = Pace()
        while True:
            await pace.wait()
            heard = SILENCE
            for track in list(self._playing):
                buffer = self._waiting[track]
                if len(buffer) < FRAME_BYTES:
                    self._playing.discard(track)
                    continue
                heard = self._sum(heard, bytes(buffer[:FRAME_BYTES]))
                # A burst after a gap must not be heard late for ever.
                del buffer[: FRAME_BYTES if len(buffer) < 15 * FRAME_BYTES else len(buffer) - self.START]
            self._recording.append(heard)

    @staticmethod
    def _sum(first, second):
        if first is SILENCE:
            return second
        shape = f"<{SAMPLES_PER_FRAME}h"
        pairs = zip(struct.unpack(shape, first), struct.unpack(shape, second))
        return struct.pack(shape, *(max(-32768, min(32767, a + b)) for a, b in pairs))

    async def close(self):
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        self._recording.close()
