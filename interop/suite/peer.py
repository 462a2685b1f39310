"""A program that speaks docs/peer-protocol.md, seen from whoever drives it."""

import asyncio
import contextlib
import json
import os
import signal
import time
from dataclasses import dataclass, field

from . import pictures, sound
from .verdict import Crashed, Failed, Skipped

_LINE_LIMIT = 16 << 20
_STATES = {
    "iceconnectionstatechange": "ice",
    "connectionstatechange": "connection",
    "dtlsstatechange": "dtls",
    "signalingstatechange": "signaling",
    "icegatheringstatechange": "gathering",
}


@dataclass(frozen=True)
class Kind:
    """A program that can be a peer."""

    name: str
    command: tuple
    # The share of a core that it may take, its start included.
    weight: float = 0.2


class ProtocolError(Exception):
    def __init__(self, peer, method, name, message):
        super().__init__(f"{peer} answered {method} with {name}: {message}")
        self.peer, self.method, self.name, self.message = peer, method, name, message


@dataclass
class Event:
    time: float  # seconds since the suite's case began
    name: str
    members: dict = field(default_factory=dict)

    def __str__(self):
        shown = {key: value for key, value in self.members.items() if key not in ("event", "timestamp")}
        if self.name in _STATES:
            text = f"{_STATES[self.name]} {shown['state']}"
        elif self.name == "selectedcandidatepairchange":
            ends = (
                f"{end['candidateType']} {end.get('address')}:{end.get('port')}" for end in (shown["local"], shown["remote"])
            )
            text = "pair " + " — ".join(ends)
        elif self.name == "icecandidate":
            text = f"candidate {shown['candidate'] or 'end'}"
        else:
            text = " ".join([self.name, *(f"{key}={value}" for key, value in shown.items())])
        return f"{self.time * 1000:8.0f} ms  {text}"


class Peer:
    """One running program. `side` is its place in the network: left or right."""

    def __init__(self, kind, role, side, network, folder, began):
        self.kind, self.role, self.side = kind, role, side
        self.host = getattr(network, side)
        self.melody, self.partner_melody = sound.MELODIES[side], sound.MELODIES["right" if side == "left" else "left"]
        self.folder = folder
        self.recording = str(folder / f"{role}-heard.wav")
        self.pictures = str(folder / f"{role}-seen.txt")
        self.agent = kind.name
        self.trail = []
        self.states = {}
        self._network, self.began = network, began
        self._number = 0
        self._pending = {}
        self._changed = asyncio.Condition()
        self._ended = False
        self.on_candidate = None

    def __str__(self):
        return f"{self.role} ({self.kind.name}, {self.side})"

    @property
    def process_number(self):
        """Of the program while it runs; nil before and after."""
        process = getattr(self, "process", None)
        return process.pid if process and process.returncode is None else None

    @property
    def is_up(self):
        """Whether it is ready for a call."""
        return "signaling" in self.states

    def crashed(self, expected, happened):
        """The failure that its end is: of ours, one that no lack of time excuses."""
        return (Crashed if self.kind.name == "callsim" else Failed)(expected, happened)

    @property
    def clock(self):
        return time.monotonic() - self.began

    async def start(self, options=()):
        self._log = open(self.folder / f"{self.role}.log", "wb")
        self._lines = open(self.folder / f"{self.role}.jsonl", "w")
        command = self._network.inside(self.host, *self.kind.command, *options)
        self.process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=self._log,
            limit=_LINE_LIMIT, start_new_session=True,
        )  # fmt: skip
        self._reader = asyncio.create_task(self._receive())

    async def open(self, configuration=None, play=True, video=False):
        """`video` is whether it takes part in video, or members of `video` that differ from the usual ones."""
        play_path = str(self.folder / f"{self.role}-says.wav")
        if play:
            await asyncio.to_thread(sound.write_melody, play_path, self.melody)
        audio = {"play": {"wav": play_path} if play else None, "record": self.recording}
        shown = {
            "width": pictures.WIDTH, "height": pictures.HEIGHT, "frameRate": pictures.RATE,
            "firstNumber": pictures.FIRST[self.side], "record": self.pictures,
        }  # fmt: skip
        if isinstance(video, dict):
            shown |= video
        configuration = {"iceServers": [], **(configuration or {})}
        parameters = {"configuration": configuration, "audio": audio} | ({"video": shown} if video else {})
        self.agent = (await self.request("open", **parameters))["agent"]

    async def request(self, method, **parameters):
        self._number += 1
        answer = self._pending[self._number] = asyncio.get_running_loop().create_future()
        line = json.dumps({"id": self._number, "method": method, "params": parameters})
        self._note("→", line)
        try:
            self.process.stdin.write(line.encode() + b"\n")
            await self.process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            raise self.crashed(f"{self} to take {method}", "it had ended") from None
        try:
            reply = await asyncio.wait_for(answer, 20)
        except TimeoutError:
            raise Failed(f"{self} to answer {method}", "it did not within 20 s") from None
        if "error" in reply:
            error = reply["error"]
            # What our own peer does not support is a failure.
            if error["name"] == "NotSupportedError" and self.kind.name != "callsim":
                raise Skipped(f"{self.kind.name}: {error['message']}")
            raise ProtocolError(self, method, error["name"], error["message"])
        return reply.get("result") or {}

    async def _receive(self):
        while line := await self.process.stdout.readline():
            text = line.decode(errors="replace").rstrip()
            self._note("←", text)
            try:
                message = json.loads(text)
            except ValueError:
                self.trail.append(Event(self.clock, "garbage", {"line": text[:200]}))
                continue
            if "id" in message:
                answer = self._pending.pop(message["id"], None)
                if answer and not answer.done():
                    answer.set_result(message)
            else:
                await self._on_event(message)
        self._ended = True
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(self.crashed(f"{self} to go on", "it ended in the middle of a call"))
        async with self._changed:
            self._changed.notify_all()

    async def _on_event(self, message):
        event = Event(self.clock, message.get("event", "?"), message)
        self.trail.append(event)
        if event.name in _STATES:
            self.states[_STATES[event.name]] = message["state"]
        if event.name == "icecandidate" and self.on_candidate:
            self.on_candidate(message)
        async with self._changed:
            self._changed.notify_all()

    def _note(self, direction, line):
        if not self._lines.closed:
            self._lines.write(f"{self.clock * 1000:9.1f} {direction} {line}\n")

    def mark(self):
        """A moment: the place in the trail and in the recording."""
        return Mark(self, len(self.trail), self.clock, sound.length(self.recording))

    async def until(self, condition, what, within=10.0):
        """Waits for a condition of this peer. Returns when it first held, on the case's clock."""
        deadline = time.monotonic() + within
        while not condition(self):
            remaining = deadline - time.monotonic()
            if self._ended:
                raise self.crashed(f"{self}: {what}", "the program ended")
            if remaining <= 0:
                raise Failed(f"{self}: {what} within {within:g} s", "it did not happen")
            async with self._changed:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), min(remaining, 0.25))
        return self.clock

    async def until_state(self, machine, *wanted, within=10.0):
        return await self.until(
            lambda peer: peer.states.get(machine) in wanted, f"{machine} {' or '.join(wanted)}", within
        )

    async def stats(self, kind=None):
        stats = (await self.request("getStats"))["stats"]
        return [entry for entry in stats.values() if kind is None or entry.get("type") == kind]

    async def stop(self):
        """Ends the program as a user would, and then without asking."""
        if not hasattr(self, "process"):
            return None
        with contextlib.suppress(Exception):
            self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), 6)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            await self.process.wait()
        self._reader.cancel()
        self._log.close()
        self._lines.close()
        return self.process.returncode


@dataclass(frozen=True)
class Mark:
    peer: Peer
    position: int
    time: float
    recorded: float

    def events(self, name=None):
        return [event for event in self.peer.trail[self.position :] if name is None or event.name == name]

    def entered(self, machine, *wanted):
        """When a state was entered after the mark, in seconds since it."""
        for event in self.events():
            if _STATES.get(event.name) == machine and event.members["state"] in wanted:
                return event.time - self.time
        return None

    def heard(self, after=0.0, until=None):
        """What was recorded from this moment on; `until` is a later mark."""
        end = until.recorded if isinstance(until, Mark) else until
        return sound.Heard(self.peer.recording, self.recorded + after, end)
