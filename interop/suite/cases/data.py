"""Data channels, each way and in every form: text and bytes, in order and not, made by either side."""

import asyncio
import base64

from ..case import OURS, SAMPLED, THEIRS, case
from ..turn import Coturn
from ..verdict import expect

_NO_CHANNELS = dict.fromkeys(("gstreamer", "pion", "janus"), "its driver has no data channels")
# What aiortc announces in a=max-message-size; browsers and we have 256 KiB.
_LARGEST = {"aiortc": 65_536}


class Channel:
    """A channel: the name that each side has for it."""

    def __init__(self, call, opener, label, settings):
        self._call, self._opener, self._label, self._settings = call, opener, label, settings
        self._names = {}

    async def create(self):
        answer = await self._opener.request("createDataChannel", label=self._label, **self._settings)
        self._names[self._opener] = answer["channel"]
        return self

    async def until_open(self, within=10.0):
        other = self._call.other(self._opener)
        await other.until(lambda peer: self._announced(peer), f"data channel {self._label} is announced", within)
        self._names[other] = self._announced(other)["channel"]
        for name, value in self._settings.items():
            found = self._announced(other).get(name)
            expect(found == value, f"{other} to see {name} {value} of {self._label}", f"it is {found}")
        for peer in self._call.peers:
            await self.until_state(peer, "open", within)

    def _announced(self, peer):
        return next((event.members for event in peer.trail
                     if event.name == "datachannel" and event.members["label"] == self._label), None)  # fmt: skip

    async def until_state(self, peer, state, within=10.0):
        def reached(peer):
            states = [event.members["state"] for event in peer.trail
                      if event.name == "datachannelstatechange" and event.members["channel"] == self._names[peer]]
            return state in states

        await peer.until(reached, f"data channel {self._label} is {state}", within)

    async def close(self, peer):
        await peer.request("closeDataChannel", channel=self._names[peer])

    async def carry(self, sender, messages, in_order=True, within=15.0):
        """Sends messages, and expects all of them at the other side."""
        receiver = self._call.other(sender)
        known = len(self._received(receiver))
        for message in messages:
            content = {"text": message} if isinstance(message, str) else {"binary": base64.b64encode(message).decode()}
            await sender.request("sendData", channel=self._names[sender], **content)
        await receiver.until(lambda peer: len(self._received(peer)) >= known + len(messages),
                             f"{len(messages)} messages on {self._label} arrive", within)  # fmt: skip
        found = self._received(receiver)[known:]
        wanted = list(messages)
        if not in_order:
            found, wanted = sorted(found, key=repr), sorted(wanted, key=repr)
        expect(found == wanted, f"{receiver} to get {_described(wanted)}", f"it got {_described(found)}")

    def _received(self, peer):
        return [_content(event.members) for event in peer.trail
                if event.name == "message" and event.members["channel"] == self._names[peer]]  # fmt: skip


def _content(message):
    return message["text"] if "text" in message else base64.b64decode(message["binary"])


def _described(messages):
    return [f"{len(message)} bytes" if isinstance(message, bytes) else repr(message[:40]) for message in messages]


def _large(call):
    size = min(_LARGEST.get(peer.kind.name, 262_144) for peer in call.peers)
    return bytes(index * 7 & 0xFF for index in range(size))


async def _talk(call, channel, in_order=True):
    """Text, bytes, and the largest message, from each side."""
    for peer in call.peers:
        await channel.carry(peer, ["héllo", b"\x00\x01\xff", "", b"", *(f"message {n}" for n in range(50))], in_order)
        await channel.carry(peer, [_large(call), "after it"], in_order)


@case("data channel in the first offer", without=_NO_CHANNELS, sample=SAMPLED)
async def first_offer(call):
    """The offer has audio and a data channel: both work, in the same BUNDLE."""
    await call.open()
    channel = await Channel(call, call.offerer, "chat", {"ordered": True, "protocol": "test"}).create()
    await call.connect()
    await channel.until_open()
    await _talk(call, channel)
    await call.listen(1.5)


@case("data channel alone, unordered", without=_NO_CHANNELS)
async def alone(call):
    """No audio at all: the only section is that of data channels, whose messages may overtake each other."""
    await call.open(audio=False)
    channel = await Channel(call, call.offerer, "loose", {"ordered": False}).create()
    await call.connect()
    await channel.until_open()
    await _talk(call, channel, in_order=False)


@case("data channel of limited retransmissions", without=_NO_CHANNELS)
async def limited(call):
    """The limit reaches the other side, and on a network without loss every message does, too."""
    await call.open()
    channel = await Channel(call, call.offerer, "game", {"ordered": False, "maxRetransmits": 0}).create()
    await call.connect()
    await channel.until_open()
    for peer in call.peers:
        await channel.carry(peer, [f"position {n}" for n in range(20)], in_order=False)


@case("data channel added to a call", without=_NO_CHANNELS)
async def later(call):
    """The answerer makes a channel in a call that is up, and offers it; then each side makes another without an offer."""
    await call.open()
    await call.connect()
    channel = await Channel(call, call.answerer, "late", {}).create()
    await call.negotiate(call.answerer)
    await channel.until_open()
    await _talk(call, channel)
    for opener in call.peers:
        further = await Channel(call, opener, f"further of {opener.role}", {}).create()
        await further.until_open()
        await further.carry(call.other(opener), ["hello"])
    # A later offer of aiortc gives the codecs new numbers, and it hears only the old (RFC 3264, section 8.3.2).
    if call.answerer.kind.name != "aiortc":
        await call.listen(1.0)


@case("data channel closed by ours", offers=(OURS, THEIRS), without=_NO_CHANNELS)
async def closed_by_ours(call):
    """We close a channel with messages on their way: they get all of them, and then its end; another one opens."""
    await _close(call, call.ours)


@case("data channel closed by theirs", offers=(OURS, THEIRS), without=_NO_CHANNELS)
async def closed_by_theirs(call):
    """The same from the other side."""
    await _close(call, call.theirs)


async def _close(call, closer):
    await call.open()
    channel = await Channel(call, call.offerer, "first", {}).create()
    await call.connect()
    await channel.until_open()
    await channel.carry(closer, ["last words"])
    await channel.close(closer)
    for peer in call.peers:
        await channel.until_state(peer, "closed")
    again = await Channel(call, call.other(closer), "second", {}).create()
    await again.until_open()
    await again.carry(closer, ["hello again"])


@case("data channel over a relay", without=_NO_CHANNELS, sample=SAMPLED)
async def relayed(call):
    """Both are relay-only, and coturn carries the largest message both ways."""
    async with Coturn(call, "long-term") as turn:
        await call.network.swallow()
        await call.open(turn.relay_only("udp"))
        channel = await Channel(call, call.offerer, "far", {}).create()
        await call.connect(within=15)
        await channel.until_open()
        await asyncio.gather(*(channel.carry(peer, [_large(call)], within=20) for peer in call.peers))
