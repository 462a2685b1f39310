"""Whether the machine had time for the programs of a call. What was heard says nothing about a program that had work to
do and got no processor: such a call deserves another attempt, and the reason is told.
"""

import asyncio
import contextlib
import os

# A wait that leaves a gap in what is heard: jitter buffers hold 60 to 100 ms.
LONG = 0.12
_PERIOD = 0.5


def _threads(process):
    """The threads of a process and of all its descendants, as folders in /proc."""
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            folder = f"/proc/{process}/task/{thread}"
            yield folder
            with contextlib.suppress(OSError), open(f"{folder}/children") as children:
                for child in children.read().split():
                    yield from _threads(child)


def _waited(folder):
    """Seconds for which a thread was ready to run and did not, since it began (Linux's schedstat); nil if unknown."""
    try:
        with open(f"{folder}/schedstat") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return None


class Watch:
    """Looks at the programs of a call from when it is entered until it is left."""

    def __init__(self, peers):
        self._peers = peers
        self._before = {}
        # For each peer the longest that one of its threads waited within a period.
        self.longest = {}

    async def __aenter__(self):
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_):
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        self._look()

    async def _run(self):
        while True:
            await asyncio.sleep(_PERIOD)
            self._look()

    def _look(self):
        for peer in self._peers:
            # While it starts nothing is heard of it.
            if (process := peer.process_number) is None or "signaling" not in peer.states:
                continue
            for thread in _threads(process):
                waited = _waited(thread)
                before = self._before.get(thread)
                if waited is None:
                    continue
                self._before[thread] = waited
                if before is not None and waited - before > self.longest.get(peer, 0):
                    self.longest[peer] = waited - before

    @property
    def reason(self):
        """What the machine owed the call, in words; nil if nothing that could be heard."""
        late = [f"{peer} waited {waited * 1000:.0f} ms for a processor" for peer, waited in self.longest.items() if waited >= LONG]
        return " and ".join(late) or None
