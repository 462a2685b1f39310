"""Video: what each side sees of the other, in each codec, over relays, and while packets are lost."""

import asyncio
import re
import time

from .. import pictures, sdp
from ..case import OURS, THEIRS, about_only, case
from ..turn import Coturn
from ..verdict import expect

_VP8 = {"pion": "Pion's driver has no video encoder", "janus": "the AudioBridge of Janus has no video"}
_VP9 = _VP8 | {"aiortc": "aiortc has no VP9", "gstreamer": "this driver of GStreamer sends VP8 only"}
_H264 = _VP8 | {
    "firefox": "Firefox has H.264 from a plug-in that it downloads",
    "gstreamer": "this driver of GStreamer sends VP8 only",
}
_AV1 = _VP9 | {"firefox": "Firefox ESR encodes no AV1 for calls"}
_BROWSER = about_only("chromium", "it is about libwebrtc's estimate")


def _codec(description):
    """The name of the first codec of the video section."""
    section = next(text for text in sdp.sections(description) if text.startswith("m=video"))
    first = sdp.media_lines(section)[0][2][0]
    return re.search(rf"(?m)^a=rtpmap:{first} (\w+)/", section)[1]


async def _see(call, codec=None, seconds=3.0):
    if codec:
        await call.offerer.request("setCodecPreferences", track=call.cameras[call.offerer], codecs=[codec])
    exchange = await call.connect()
    if codec:
        taken = _codec(exchange.answer)
        expect(taken == codec, f"an answer that prefers {codec}", f"it prefers {taken}")
    await call.watch(seconds)
    await call.listen(1.0, settle=0)


def _case_of(codec, title, without, **properties):
    @case(f"video, {title}", without=without, **properties)
    async def seen(call):
        """Each side sees the other's pictures in their order, and hears it."""
        await call.open(video=True)
        await _see(call, codec)


_case_of("VP8", "VP8", _VP8, sample=("chromium",))
_case_of("VP9", "VP9", _VP9)
_case_of("H264", "H.264", _H264)
_case_of("AV1", "AV1", _AV1)


@case("video, camera off and on", offers=(THEIRS,), without=_VP8 | {"gstreamer": "its driver has no black pictures"})
async def camera_off(call):
    """A disabled track is black, so no number can be read; enabled, the pictures are back."""
    await call.open(video=True)
    await _see(call)
    for peer in call.peers:
        await peer.request("setEnabled", track=call.cameras[peer], enabled=False)
    await asyncio.sleep(1.5)
    before = {peer: len(pictures.read(peer.pictures)) for peer in call.peers}
    await asyncio.sleep(1.5)
    for peer in call.peers:
        seen = pictures.read(peer.pictures)[before[peer] :]
        readable = [picture.number for picture in seen if picture.number is not None]
        expect(not readable, f"{peer} to see black", f"it saw the numbers {readable[:5]}")
        expect(seen, f"{peer} to see black pictures", "it saw none")
    for peer in call.peers:
        await peer.request("setEnabled", track=call.cameras[peer], enabled=True)
    await call.watch(2.0)


async def _estimate(peer):
    pairs = [pair for pair in await peer.stats("candidate-pair") if pair.get("availableOutgoingBitrate")]
    return max((pair["availableOutgoingBitrate"] for pair in pairs), default=0)


@case("bandwidth estimates rise", without=_BROWSER, timeout=60)
async def estimates(call):
    """Both estimate the path from the other's transport-wide feedback: both estimates pass 1 Mbit/s."""
    await call.open(video=True)
    exchange = await call.connect()
    for name, description in (("offer", exchange.offer), ("answer", exchange.answer)):
        expect("transport-cc" in description, f"transport-cc in the {name}", "it is not there")
    began = time.monotonic()
    waiting = {peer: None for peer in call.peers}
    while None in waiting.values() and time.monotonic() - began < 25:
        await asyncio.sleep(0.5)
        for peer in [peer for peer, done in waiting.items() if done is None]:
            if await _estimate(peer) > 1_000_000:
                waiting[peer] = time.monotonic() - began
    for peer, reached in waiting.items():
        expect(reached is not None, f"{peer} to estimate more than 1 Mbit/s within 25 s",
               f"it estimates {await _estimate(peer) / 1000:.0f} kbit/s")  # fmt: skip
        call.measured[f"1 Mbit/s, {peer.role}"] = reached
    await call.watch(2.0)


@case("video over a relay", offers=(OURS,), without=_VP8)
async def relayed(call):
    """Video through coturn, where nothing goes directly."""
    async with Coturn(call) as turn:
        await call.network.swallow()
        await call.open(turn.relay_only("udp"), video=True)
        await _see(call, "VP8")


@case("video with 5 % loss", without=_VP8 | {"gstreamer": "its driver sends no packet again"})
async def lossy(call):
    """One packet of twenty is lost: both send lost packets again, and the pictures go on."""
    await call.open(video=True)
    await _see(call, "VP8", seconds=1.5)
    await call.network.swallow("numgen random mod 100 < 5 drop")
    await call.watch(4.0, settle=1.0, rate=0.4)
    for peer in call.peers:
        streams = [stream for stream in await peer.stats("outbound-rtp") if stream.get("kind") == "video"]
        again = sum(stream.get("retransmittedPacketsSent", 0) for stream in streams)
        if peer.kind.name != "aiortc":
            expect(again > 0, f"{peer} to send lost packets again", "it sent none")
    await call.network.restore()


@case("video in RED with 5 % loss", without=about_only("chromium", "only browsers of libwebrtc correct video"), timeout=60)
async def corrected(call):
    """Both agree on ULPFEC and send video inside RED, also what is lost and sent again. On so short a path only key
    frames are corrected: `interop/scenarios` has a long one."""
    await call.open(video={"forwardErrorCorrection": "ulpfec"})
    exchange = await call.connect()
    for name, description in (("offer", exchange.offer), ("answer", exchange.answer)):
        formats = [value.split()[1] for value in sdp.values(description, "rtpmap")]
        for wanted in ("red/90000", "ulpfec/90000"):
            expect(wanted in formats, f"{wanted} in the {name}", f"it has {formats}")
    await call.watch(3.0)
    await call.network.swallow("numgen random mod 100 < 5 drop")
    await call.watch(5.0, settle=1.0, rate=0.4)
    for peer in call.peers:
        streams = [stream for stream in await peer.stats("inbound-rtp") if stream.get("kind") == "video"]
        again = sum(stream.get("retransmittedPacketsReceived", 0) for stream in streams)
        call.measured[f"RED packets again, {peer.role}"] = again
        expect(again > 0, f"{peer} to receive lost packets again", f"its statistics are {streams}")
    await call.network.restore()


@case("simulcast from a browser", offers=(THEIRS,), without=_BROWSER, timeout=60)
async def simulcast(call):
    """The browser offers two encodings by RID (RFC 8853), and we see the pictures of both, each in their order."""
    encodings = [{"rid": "half", "scaleResolutionDownBy": 2}, {"rid": "full"}]
    await call.open(video={"width": 640, "height": 480}, cameras=False)
    await call.theirs.request("addTrack", kind="video", sendEncodings=encodings)
    exchange = await call.connect()
    offered, taken = (sdp.values(description, "simulcast") for description in (exchange.offer, exchange.answer))
    expect(offered == ["send half;full"], "simulcast in the offer", f"it has {offered}")
    expect(taken == ["recv half;full"], "simulcast in the answer", f"it has {taken}")
    await call.ours.until(lambda peer: len(_sizes(peer)) > 1, "pictures of both encodings", within=25)
    await asyncio.sleep(3)
    for size, numbers in _sizes(call.ours).items():
        expect(len(numbers) > 15, f"{call.ours} to see more than 15 pictures of {size}", f"it saw {len(numbers)}")
        expect(numbers == sorted(numbers), f"the pictures of {size} in their order", f"they were {numbers}")
        call.measured[f"pictures of {size}"] = len(numbers)


def _sizes(peer):
    """The numbers of the pictures that a peer saw, by the size of the picture."""
    sizes = {}
    for picture in pictures.read(peer.pictures):
        if picture.number is not None:
            sizes.setdefault(f"{picture.width}x{picture.height}", []).append(picture.number)
    return sizes
