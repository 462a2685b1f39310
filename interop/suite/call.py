"""A call between two peers: the signalling between them, and the questions that most cases ask."""

import asyncio
import contextlib
import os
import time
from dataclasses import dataclass, field

from . import sdp as descriptions
from . import pictures, sound
from .peer import ProtocolError
from .verdict import Failed, Skipped, expect


_starts = asyncio.Semaphore(os.cpu_count())


@dataclass
class Edits:
    """What the signalling does to descriptions on their way: a text to a text."""

    offer: callable = staticmethod(lambda sdp: sdp)
    answer: callable = staticmethod(lambda sdp: sdp)
    candidate: callable = staticmethod(lambda candidate: candidate)


@dataclass
class Exchange:
    """The descriptions of a negotiation, as they were made."""

    offer: str
    answer: str = ""


@dataclass
class Call:
    network: object
    # When the case must be over.
    limit: asyncio.Timeout
    ours: object
    theirs: object
    offerer: object
    folder: object
    trickle: bool = True
    edits: Edits = field(default_factory=Edits)
    measured: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)
    tracks: dict = field(default_factory=dict)
    cameras: dict = field(default_factory=dict)
    # Further peers of the case, which end with it.
    companions: list = field(default_factory=list)
    # What runs beside it.
    tools: list = field(default_factory=list)

    def __post_init__(self):
        self._ready = {self.ours: False, self.theirs: False}
        self._waiting = {self.ours: [], self.theirs: []}
        self._gathered = {self.ours: [], self.theirs: []}
        self._deliveries = set()
        for peer in self.peers:
            peer.on_candidate = lambda message, peer=peer: self._on_candidate(peer, message)

    @property
    def peers(self):
        return (self.ours, self.theirs)

    @property
    def programs(self):
        """All that must have a processor for the call to be judged."""
        return [*self.peers, *self.companions, *self.tools]

    @property
    def answerer(self):
        return self.other(self.offerer)

    def other(self, peer):
        return self.theirs if peer is self.ours else self.ours

    async def both(self, operation):
        """The same for both peers, at once."""
        return await asyncio.gather(*(operation(peer) for peer in self.peers))

    async def open(
        self, configuration=None, ours=None, theirs=None, audio=True, video=False, cameras=True, ours_options=(),
        theirs_options=(),
    ):  # fmt: skip
        """Starts both programs, each with a connection and its melody as a track; with `video` also its pictures, unless
        `cameras` says that the case adds them."""
        async with self.starting():
            await asyncio.gather(self.ours.start(ours_options), self.theirs.start(theirs_options))
            await asyncio.gather(
                self.ours.open(ours if ours is not None else configuration, video=video),
                self.theirs.open(theirs if theirs is not None else configuration, video=video),
            )
        if audio:
            await self.both(self.add_audio)
        if video and cameras:
            await self.both(self.add_video)

    @contextlib.asynccontextmanager
    async def starting(self):
        """Where programs start: a browser takes all that it can get, from calls that are up, so few do at a time. The
        wait for a turn is not the case's."""
        clock = asyncio.get_running_loop().time
        left = self.limit.when() - clock()
        self.limit.reschedule(None)
        async with _starts:
            self.limit.reschedule(clock() + left)
            yield

    async def add_audio(self, peer):
        self.tracks[peer] = (await peer.request("addTrack", kind="audio"))["track"]

    async def add_video(self, peer):
        self.cameras[peer] = (await peer.request("addTrack", kind="video"))["track"]

    # Signalling

    def _on_candidate(self, peer, message):
        self._gathered[peer].append(message)
        if not self.trickle:
            return
        candidate = {name: message.get(name) for name in ("candidate", "sdpMid", "sdpMLineIndex")}
        candidate = self.edits.candidate(candidate)
        if candidate is not None:
            self._deliver(self.other(peer), candidate)

    def _deliver(self, peer, candidate):
        if not self._ready[peer]:
            self._waiting[peer].append(candidate)
            return
        task = asyncio.create_task(self._add_candidate(peer, candidate))
        self._deliveries.add(task)
        task.add_done_callback(self._deliveries.discard)

    async def _add_candidate(self, peer, candidate):
        try:
            await peer.request("addIceCandidate", **candidate)
        except (ProtocolError, Failed) as problem:
            # A candidate for an m-line that was rejected, or after the end: the peer says so, and the call goes on.
            self.notes.append(str(problem))

    def set_ready(self, peer):
        """The peer has the description that the other's candidates belong to: those that waited for it follow."""
        self._ready[peer] = True
        waiting, self._waiting[peer] = self._waiting[peer], []
        for candidate in waiting:
            self._deliver(peer, candidate)

    async def negotiate(self, offerer=None, ice_restart=False):
        """One offer and its answer. Returns both as they were made; the other side gets them as the edits say."""
        offerer = offerer or self.offerer
        answerer = self.other(offerer)
        if answerer.kind.name == "janus" and self.offerer is answerer:
            raise Skipped("the AudioBridge of Janus takes no offer in a call that it offered (error 493)")
        # A candidate belongs to the description before it, and must not overtake it.
        self._ready[answerer] = False
        offer = await offerer.request("createOffer", **({"iceRestart": True} if ice_restart else {}))
        exchange = Exchange(offer["sdp"])
        await offerer.request("setLocalDescription", type="offer", sdp=offer["sdp"])
        delivered = await self._complete(offerer, offer["sdp"])
        await answerer.request("setRemoteDescription", type="offer", sdp=self.edits.offer(delivered))
        self.set_ready(answerer)
        self._ready[offerer] = False
        answer = await answerer.request("createAnswer")
        exchange.answer = answer["sdp"]
        await answerer.request("setLocalDescription", type="answer", sdp=answer["sdp"])
        delivered = await self._complete(answerer, answer["sdp"])
        await offerer.request("setRemoteDescription", type="answer", sdp=self.edits.answer(delivered))
        self.set_ready(offerer)
        return exchange

    async def _complete(self, peer, sdp):
        if self.trickle:
            return sdp
        await peer.until(
            lambda _: any(not event["candidate"] for event in self._gathered[peer]), "all candidates are gathered"
        )
        return descriptions.with_candidates(sdp, self._gathered[peer])

    async def connect(self, within=10.0):
        """Negotiates, and waits until both sides say that they are connected. Measures how long that took."""
        began = time.monotonic()
        exchange = await self.negotiate()
        await self.both(lambda peer: peer.until_state("connection", "connected", within=within))
        self.measured["connected"] = time.monotonic() - began
        self._began = began
        return exchange

    # What is heard

    async def listen(self, seconds=2.0, settle=0.8, sides=None, share=0.85, steps=True):
        """Both hear the other's melody, from now on: its notes in their order, as loud as they were sent, no gap."""
        await asyncio.sleep(settle)
        marks = {peer: peer.mark() for peer in (self.peers if sides is None else sides)}
        await asyncio.sleep(seconds)
        for peer, mark in marks.items():
            heard = mark.heard(until=mark.peer.mark())
            name = f"{peer} to hear"
            expect(heard.seconds > seconds * 0.7, f"{name} for {seconds:g} s", f"it recorded {heard.seconds:.1f} s")
            expect(
                heard.share(peer.partner_melody) >= share,
                f"{name} the other's melody {peer.partner_melody} in {share:.0%} of the time",
                f"it heard {heard.describe()}",
            )
            gap = heard.longest_gap(peer.partner_melody)
            expect(gap <= 0.2, f"{name} no gap longer than 200 ms", f"there was one of {gap * 1000:.0f} ms")
            level = heard.level()
            expect(
                abs(level - sound.SENT_LEVEL) <= 4,
                f"{name} it at {sound.SENT_LEVEL:.0f} dBFS, as it was sent",
                f"it was {level:.0f}",
            )
            wrong = heard.wrong_steps(peer.partner_melody) if steps else []
            expect(len(wrong) <= 1, f"{name} the notes in their order", f"these steps were wrong: {wrong}")

    # What is seen

    async def watch(self, seconds=3.0, settle=2.0, sides=None, rate=0.6):
        """Both see the other's pictures, from now on: in their order, as many as `rate` says of those that were taken, and
        no stop."""
        await asyncio.sleep(settle)
        sides = self.peers if sides is None else sides
        before = {peer: len(pictures.read(peer.pictures)) for peer in sides}
        await asyncio.sleep(seconds)
        for peer in sides:
            self._check_pictures(peer, pictures.read(peer.pictures)[before[peer] :], seconds, rate)

    def _check_pictures(self, peer, seen, seconds, rate):
        found = pictures.describe(seen)
        numbers = [picture.number for picture in seen if picture.number is not None]
        wanted = round(pictures.RATE * seconds * rate)
        expect(len(seen) >= wanted, f"{peer} to see {wanted} pictures in {seconds:g} s", f"it saw {found}")
        expect(len(numbers) >= 0.9 * len(seen), f"{peer} to see whole pictures", f"it saw {found}")
        side = self.other(peer).side
        strange = [number for number in numbers if not pictures.is_from(number, side)]
        expect(not strange, f"{peer} to see the other's pictures", f"it saw the numbers {strange[:5]}")
        expect(numbers == sorted(numbers), f"{peer} to see the pictures in their order", f"they were {numbers}")
        pauses = [later.time - earlier.time for earlier, later in zip(seen, seen[1:])]
        expect(max(pauses) <= 700, f"{peer} to see no stop longer than 700 ms", f"there was one of {max(pauses):.0f} ms")

    def measure_first_heard(self):
        """How long after the start of negotiation each side first heard the other."""
        for peer in self.peers:
            mark = peer.mark()
            first = sound.Heard(peer.recording).first(peer.partner_melody)
            if first is not None:
                heard = time.monotonic() - (mark.recorded - first) - self._began
                self.measured[f"heard by {peer.role}"] = heard

    async def until_heard(self, peer, mark, within=5.0):
        """Waits until a peer hears the other again after a mark. Returns how long that took."""
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            await asyncio.sleep(0.1)
            first = mark.heard().first(peer.partner_melody)
            if first is not None:
                return first - mark.recorded
        raise Failed(f"{peer} to hear the other again within {within:g} s", f"it heard {mark.heard().describe()}")

    async def until_silent(self, peer, within=3.0, length=0.4):
        """Waits until a peer has heard nothing for a while: it records silence, or, with nothing to play, no more.
        Returns when that began, in seconds from now."""
        mark = peer.mark()
        deadline = time.monotonic() + within
        grew, recorded = time.monotonic(), mark.recorded
        while time.monotonic() < deadline:
            await asyncio.sleep(0.1)
            if sound.length(peer.recording) > recorded:
                grew, recorded = time.monotonic(), sound.length(peer.recording)
            heard = mark.heard()
            if time.monotonic() - grew >= length + 0.2:
                return heard.seconds
            frames = int(length * 50)
            if len(heard.frames) >= frames and all(frame.level < -45 for frame in heard.frames[-frames:]):
                return (len(heard.frames) - frames) * 0.02
        raise Failed(f"{peer} to hear silence within {within:g} s", f"it heard {mark.heard().describe()}")
