"""Whether the machine had time for the programs of a call. What was heard says nothing about a program that had work to
do and got no processor: such a call deserves another attempt, and the reason is told.
"""

import asyncio
import contextlib
import os

# A wait that leaves a gap in what is heard: jitter buffers hold 60 to 100 ms.
LONG = 0.12
_PERIOD = 0.5
_TICK = os.sysconf("SC_CLK_TCK")


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


def _stolen():
    """Seconds for which a virtual machine's host kept each processor for others, by its name."""
    with contextlib.suppress(OSError), open("/proc/stat") as file:
        for line in file:
            name, *ticks = line.split()
            if name.startswith("cpu") and name != "cpu" and len(ticks) > 7:
                yield name, int(ticks[7]) / _TICK


class Watch:
    """Looks at the programs of a call from when it is entered until it is left."""

    def __init__(self, call):
        self._call = call
        self._before = {}
        # For each program, and for the machine, the longest wait within a period.
        self.longest = {}

    async def __aenter__(self):
        self._look()
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
        # While a program starts nothing is heard of it.
        up = [program for program in self._call.programs if program.process_number is not None and program.is_up]
        for program in up:
            for thread in _threads(program.process_number):
                self._note(program, thread, _waited(thread))
        for processor, stolen in _stolen() if up else ():
            self._note("the machine", processor, stolen)

    def _note(self, waiter, name, waited):
        if waited is None:
            return
        before = self._before.get(name)
        self._before[name] = waited
        if before is not None:
            self.longest[waiter] = max(self.longest.get(waiter, 0), waited - before)

    @property
    def reason(self):
        """What the call was owed, in words; nil if nothing that could be heard."""
        late = [f"{waiter} waited {waited * 1000:.0f} ms for a processor" for waiter, waited in self.longest.items() if waited >= LONG]
        return " and ".join(late) or None
