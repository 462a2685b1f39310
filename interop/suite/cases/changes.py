"""What changes during a call: tracks that fall silent, tracks that come and go, tracks that are not wanted."""

import asyncio
import time

from .. import sdp
from ..capture import Capture
from ..case import OURS, THEIRS, case
from ..peer import ProtocolError
from ..verdict import Skipped, expect


async def _mute(call, muter):
    listener = call.other(muter)
    await call.open()
    await call.connect()
    await call.listen(1.0)
    await muter.request("setEnabled", track=call.tracks[muter], enabled=False)
    call.measured["silent after"] = await call.until_silent(listener)
    await call.listen(1.0, settle=0, sides=[muter])
    mark = listener.mark()
    await muter.request("setEnabled", track=call.tracks[muter], enabled=True)
    call.measured["heard again after"] = await call.until_heard(listener, mark)
    await call.listen(1.0)


@case("mute by ours", offers=(THEIRS,))
async def mute_by_ours(call):
    """Our track is disabled: they hear silence, we hear on; enabled: they hear us again."""
    await _mute(call, call.ours)


@case("mute by theirs", offers=(OURS,))
async def mute_by_theirs(call):
    """The same from the other side."""
    await _mute(call, call.theirs)


_AUDIO_ONLY = {"callsim": "callsim refuses video in a call without it", "janus": "the AudioBridge of Janus offers no video"}
_NEW_NUMBERS = "aiortc gives the codecs in use new numbers (RFC 3264, section 8.3.2), and only takes the old"


def _opus(description):
    """The payload type of Opus in the first section."""
    maps = sdp.values(sdp.sections(description)[1], "rtpmap")
    return next((line.split()[0] for line in maps if line.split()[1].lower() == "opus/48000/2"), None)


def _skip_renumbered(call, offerer, before, after):
    """Ends the case where an offer of aiortc has moved Opus to a payload type that it does not hear itself."""
    if call.theirs.kind.name == "aiortc" and offerer is call.theirs and _opus(before.answer) != _opus(after.answer):
        raise Skipped(_NEW_NUMBERS)


async def _expect_one_path(call, capture, adder):
    """All media of a capture went between one port of theirs and one of ours, and two sources of the adder's with it."""
    sources, paths = set(), set()
    for peer in call.peers:
        for address, port, to, to_port, payload in await capture.media(
            peer.host, "ip.src", "udp.srcport", "ip.dst", "udp.dstport", "udp.payload"
        ):
            packet = bytes.fromhex(payload.replace(":", ""))
            paths.add(tuple(sorted(((address, port), (to, to_port)))))
            # The rest is RTCP (RFC 5761 section 4).
            if peer is adder and not 192 <= packet[1] <= 223:
                sources.add(packet[8:12])
    expect(len(sources) == 2, f"RTP of two sources from {adder}", f"the capture has {len(sources)}")
    expect(len(paths) == 1, "all media on one 5-tuple", f"it took {sorted(paths)}")


async def _add_and_remove(call, adder):
    listener = call.other(adder)
    async with Capture(call) as capture:
        await call.open()
        first = await call.connect()
        await call.listen(1.0)
        mark = listener.mark()
        second = (await adder.request("addTrack", kind="audio"))["track"]
        exchange = await call.negotiate(adder)
        lines = [line for line in sdp.media_lines(exchange.answer) if line[0] == "audio"]
        _skip_renumbered(call, adder, first, exchange)
        expect(len(lines) == 2 and all(port for _, port, _ in lines), "both audio sections accepted", f"the answer has {lines}")
        for name, description in (("offer", exchange.offer), ("answer", exchange.answer)):
            group, mids = sdp.values(description, "group"), sdp.values(description, "mid")
            expect(len(mids) == 2 and group == [" ".join(["BUNDLE", *mids])], f"a BUNDLE group of both in the {name}",
                   f"it has {group} and the sections {mids}")  # fmt: skip
        await listener.until(lambda _: mark.events("track"), "a track event for the second track", within=3)
        # With the first track silent, what is heard is the second.
        await adder.request("setEnabled", track=call.tracks[adder], enabled=False)
        await call.listen(1.5, settle=1.0)
        await capture.end()
    await _expect_one_path(call, capture, adder)
    await adder.request("removeTrack", track=second)
    exchange = await call.negotiate(adder)
    directions = [
        direction for direction in ("sendrecv", "sendonly") if sdp.has(sdp.sections(exchange.offer)[2], direction)
    ]
    expect(not directions, "the second section to send no more", f"it says {directions}")
    await call.until_silent(listener)
    mark = listener.mark()
    await adder.request("setEnabled", track=call.tracks[adder], enabled=True)
    await call.until_heard(listener, mark)
    await call.listen(1.0)


async def _until_decoded(peer, within=5.0):
    """Chromium hands Web Audio no more of a track that the far side took away and gave back. It plays it all the same,
    and its statistics say how loud."""

    async def energy():
        return sum(stream.get("totalAudioEnergy", 0) for stream in await peer.stats("inbound-rtp"))

    before, deadline = await energy(), time.monotonic() + within
    while await energy() < before + 0.05:
        expect(time.monotonic() < deadline, f"{peer} to decode sound within {within:g} s", "it decoded silence")
        await asyncio.sleep(0.2)


async def _hold(call, holder):
    held = call.other(holder)
    await call.open()
    first = await call.connect()
    await call.listen(1.0)
    # What the holder wants, what that is to the other side, and who hears.
    for direction, reverse, hears in (
        ("sendonly", "recvonly", [held]),
        ("inactive", "inactive", []),
        ("recvonly", "sendonly", [holder]),
        ("sendrecv", "sendrecv", [held, holder]),
    ):
        await holder.request("setDirection", track=call.tracks[holder], direction=direction)
        exchange = await call.negotiate(holder)
        _skip_renumbered(call, holder, first, exchange)
        for name, description, wanted in (("offer", exchange.offer, direction), ("answer", exchange.answer, reverse)):
            expect(sdp.has(sdp.sections(description)[1], wanted), f"a={wanted} in the {name}", "it is not there")
        silent = [peer for peer in call.peers if peer not in hears]
        if direction == "sendrecv" and held.kind.name == "chromium":
            hears.remove(held)
            await _until_decoded(held)
        else:
            await call.both(lambda peer: call.until_heard(peer, peer.mark()) if peer in hears else call.until_silent(peer))
        marks = {peer: peer.mark() for peer in silent}
        await call.listen(1.0, settle=0.2, sides=hears)
        for peer, mark in marks.items():
            heard = mark.heard()
            expect(not heard.frames or heard.silence() > 0.95, f"{peer} to hear nothing after {direction}",
                   f"it heard {heard.describe()}")  # fmt: skip


_NO_HOLD = {
    "gstreamer": "webrtcbin 1.22 has no hold: 'transceiver direction changes are not implemented'",
    "pion": "Pion 3.1 has no hold: it answers sendonly with sendrecv, and lets nobody set a direction",
}


@case("hold and resume by ours", timeout=60, without=_NO_HOLD)
async def hold_by_ours(call):
    """We hold with music (sendonly), without (inactive), mute ourselves (recvonly) and resume (sendrecv)."""
    await _hold(call, call.ours)


@case("hold and resume by theirs", timeout=60, without=_NO_HOLD)
async def hold_by_theirs(call):
    """The same from the other side."""
    await _hold(call, call.theirs)


@case("track added and removed by ours", offers=(THEIRS,), timeout=60)
async def add_by_ours(call):
    """We add a second audio track and are heard on it alone; we remove it and are heard on the first."""
    await _add_and_remove(call, call.ours)


@case("track added and removed by theirs", timeout=60)
async def add_by_theirs(call):
    """The same from the other side."""
    await _add_and_remove(call, call.theirs)


def _check_refused(exchange, kinds):
    for kind, port, _ in sdp.media_lines(exchange.answer):
        if kind in kinds:
            expect(port == 0, f"port 0 for the {kind} section", f"it has {port}")
    group = sdp.values(exchange.answer, "group")[0].split()[1:]
    mids = sdp.values(exchange.answer, "mid")
    lines = sdp.media_lines(exchange.answer)
    wanted = [mid for mid, (_, port, _) in zip(mids, lines) if port]
    expect(group == wanted, f"only {wanted} in the BUNDLE group", f"it has {group}")


_STARTS_REFUSED = "aiortc starts a transport for a section that the answer refuses, and its connection fails with it"


@case("video and data in the first offer", offers=(THEIRS,), without=_AUDIO_ONLY | {"aiortc": _STARTS_REFUSED})
async def first_offer_with_all(call):
    """Their first offer has audio, video with RTX, and a data channel; we refuse the video alone."""
    await call.open(theirs_options=("--data-channel",))
    await call.theirs.request("addTrack", kind="video")
    exchange = await call.connect()
    offered = sorted(kind for kind, _, _ in sdp.media_lines(exchange.offer))
    expect(offered == ["application", "audio", "video"], "three sections in the offer", f"it has {offered}")
    _check_refused(exchange, ("video",))
    await call.listen()
    call.measure_first_heard()


@case("video added and removed by theirs", offers=(OURS, THEIRS), without=_AUDIO_ONLY)
async def video_later(call):
    """They add video to a call that is up; we refuse it and hear on. They take it away again."""
    await call.open()
    first = await call.connect()
    await call.listen(1.0)
    mark = call.ours.mark()
    video = (await call.theirs.request("addTrack", kind="video"))["track"]
    exchange = await call.negotiate(call.theirs)
    _check_refused(exchange, ("video",))
    _skip_renumbered(call, call.theirs, first, exchange)
    await call.listen(1.0, settle=0.2)
    try:
        await call.theirs.request("removeTrack", track=video)
    except ProtocolError as error:
        # A refused section ends its transceiver, and in Chromium with it the sender.
        call.notes.append(str(error))
    await call.negotiate(call.theirs)
    await call.listen(1.0, settle=0.2)
    gap = mark.heard(until=call.ours.mark()).longest_gap(call.ours.partner_melody)
    expect(gap <= 0.3, "no gap while video comes and goes", f"there was one of {gap * 1000:.0f} ms")
