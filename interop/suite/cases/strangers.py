"""What must not work: wrong certificates, descriptions that make no sense, packets from nobody."""

import asyncio
import os
import sys

from .. import sdp
from ..call import Call, Edits
from ..capture import Capture
from ..case import OURS, THEIRS, case
from ..peer import Peer, ProtocolError
from ..verdict import expect


def _their_port(mark):
    """Of the pair that was selected last since a mark."""
    return [event.members for event in mark.events("selectedcandidatepairchange")][-1]["remote"]["port"]


@case("wrong fingerprint")
async def wrong_fingerprint(call):
    """Their description names another certificate than theirs: we fail, send no media, and play none."""
    if call.offerer is call.ours:
        call.edits.answer = sdp.with_wrong_fingerprint
    else:
        call.edits.offer = sdp.with_wrong_fingerprint
    async with Capture(call) as capture:
        await call.open()
        await call.negotiate()
        await call.ours.until_state("connection", "failed", within=8)
        await asyncio.sleep(1.0)
        await capture.end()
    expect(call.ours.states.get("dtls") == "failed", "our DTLS to have failed", f"it is {call.ours.states.get('dtls')}")
    media = await capture.media(call.ours.host)
    expect(not media, "no media from ours", f"it sent {len(media)} packets")
    mark = call.ours.mark()
    silence = mark.heard(after=-mark.recorded).silence() if mark.recorded else 1.0
    expect(silence > 0.99, "ours to play nothing", f"it was silent for {silence:.0%} of the time")


async def _second_connection(call, edit=lambda offer: offer):
    """Their app begins anew in mid-call, as after a crash: another connection of theirs makes an offer, with another
    certificate and other ICE credentials, and we get it as the next offer of the call. Returns the call with it."""
    successor = Peer(call.theirs.kind, "successor", call.theirs.side, call.network, call.folder, call.theirs.began)
    after = Call(call.network, call.limit, call.ours, successor, successor, call.folder, edits=Edits(offer=edit))
    call.companions.append(successor)
    async with call.starting():
        await successor.start()
        await successor.open()
    await after.add_audio(successor)
    await after.negotiate()
    return after


@case("another certificate in mid-call", offers=(THEIRS,), timeout=60)
async def other_certificate(call):
    """Another connection of theirs takes the call over: we restart ICE and DTLS with it, and hear it alone."""
    await call.open()
    await call.connect()
    await call.listen(1.0)
    mark = call.ours.mark()
    after = await _second_connection(call)
    await after.theirs.until_state("connection", "connected")
    await call.theirs.request("setEnabled", track=call.tracks[call.theirs], enabled=False)
    await call.ours.until(lambda _: mark.entered("dtls", "connected"), "a new DTLS association", within=8)
    call.measured["taken over after"] = mark.entered("dtls", "connected")
    await after.listen()
    await call.until_silent(call.theirs)


@case("wrong certificate in mid-call", offers=(THEIRS,), timeout=60)
async def wrong_certificate(call):
    """The same, but whoever offers does not hold the certificate of the offer: we fail, and nothing of it is heard."""
    async with Capture(call) as capture:
        await call.open()
        begin = call.ours.mark()
        await call.connect()
        await call.listen(1.0)
        first = _their_port(begin)
        # From here on there is nothing of the first connection's that could be heard.
        await call.theirs.request("setEnabled", track=call.tracks[call.theirs], enabled=False)
        await call.until_silent(call.ours)
        mark = call.ours.mark()
        after = await _second_connection(call, edit=sdp.with_wrong_fingerprint)
        await call.ours.until_state("connection", "failed", within=8)
        await asyncio.sleep(1.5)
        await capture.end()
    expect(call.ours.states.get("dtls") == "failed", "our DTLS to have failed", f"it is {call.ours.states.get('dtls')}")
    silence = mark.heard().silence()
    expect(silence > 0.99, "ours to play nothing", f"it was silent for {silence:.0%} of the time")
    second = _their_port(mark)
    expect(second != first, f"another port of {after.theirs}", f"both have {first}")
    # What finds nothing of the second connection must have found the media of the first.
    good = await capture.media(call.ours.host, condition=f"udp.dstport == {first}")
    expect(len(good) >= 50, "media from ours to the first connection, for a second or more", f"it sent {len(good)} packets")
    media = await capture.media(call.ours.host, condition=f"udp.dstport == {second}")
    expect(not media, f"no media from ours to {after.theirs}", f"it sent {len(media)} packets")


async def _refused(peer, method, **parameters):
    """Sends what must be refused with an error, after which the program lives on."""
    try:
        await peer.request(method, **parameters)
    except ProtocolError as error:
        return error
    return None


@case("garbage for a description", offers=(OURS,))
async def garbage(call):
    """Text that is no SDP is refused with an error, and a call is still possible."""
    await call.open()
    for text in ("", "garbage", "v=0\r\n", "v=0\r\nm=audio\r\n\r\n\0\xff" * 50):
        error = await _refused(call.ours, "setRemoteDescription", type="offer", sdp=text)
        expect(error, f"{text[:20]!r} to be refused", "it was taken")
    error = await _refused(call.ours, "addIceCandidate", candidate="candidate:nonsense", sdpMid="0", sdpMLineIndex=0)
    expect(error, "a nonsense candidate to be refused", "it was taken")
    await call.connect()
    await call.listen(1.0)


@case("answer to another offer", offers=(OURS,))
async def foreign_answer(call):
    """An answer whose sections are not those of our offer is refused; the right one is then taken."""
    await call.open()
    offer = await call.ours.request("createOffer")
    await call.ours.request("setLocalDescription", **offer)
    await call.theirs.request("setRemoteDescription", **offer)
    call.set_ready(call.theirs)
    answer = await call.theirs.request("createAnswer")
    session, *media = sdp.sections(answer["sdp"])
    for name, wrong in (
        ("another mid", answer["sdp"].replace("a=mid:", "a=mid:other")),
        ("no section", session),
        ("one section too many", session + media[0] + media[0].replace("a=mid:", "a=mid:x")),
        ("another kind of media", answer["sdp"].replace("m=audio", "m=video")),
    ):
        error = await _refused(call.ours, "setRemoteDescription", type="answer", sdp=wrong)
        expect(error, f"an answer with {name} to be refused", "it was taken")
    await call.theirs.request("setLocalDescription", **answer)
    await call.ours.request("setRemoteDescription", **answer)
    call.set_ready(call.ours)
    await call.both(lambda peer: peer.until_state("connection", "connected"))
    await call.listen(1.0)


async def _ended_by(call, offer):
    """What the program that makes one call says of an offer, and its exit code."""
    place = call.folder / "offer.sdp"
    place.write_bytes(offer.encode())
    command = call.network.inside(
        call.ours.host, os.environ["CALLSIM"], "live", "--answer", "--json", "--play", "silence",
        "--remote-description", str(place), "--local-description", str(call.folder / "answer.sdp"),
    )  # fmt: skip
    program = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    said, _ = await asyncio.wait_for(program.communicate(), 20)
    return (said.decode().strip().splitlines() or [""])[-1], program.returncode


@case("no common codec", without={"callsim": "callsim has Opus alone, so there is no other codec to be left with"})
async def no_common_codec(call):
    """One side has nothing but G.722: we reject the section, or the answer, and live on; a program for one call ends."""
    await call.open()
    offer = await call.offerer.request("createOffer")
    await call.offerer.request("setLocalDescription", **offer)
    if call.offerer is call.theirs:
        only = sdp.only_payloads(offer["sdp"], "audio", ["9"])
        await call.ours.request("setRemoteDescription", type="offer", sdp=only)
        answer = (await call.ours.request("createAnswer"))["sdp"]
        expect("m=audio 0 " in answer, "an answer that rejects the section (RFC 9429 section 5.3.1)", f"it was {answer!r}")
        await call.ours.request("setLocalDescription", type="answer", sdp=answer)
        if call.theirs.kind.name not in ("aiortc", "pion"):  # they refuse answers that reject their section
            await call.theirs.request("setRemoteDescription", type="answer", sdp=answer)
        end, status = await _ended_by(call, only)
        expect('"codec-mismatch"' in end and status == 1, "callsim live to end with codec-mismatch and status 1",
               f"it ended with {status} and said {end!r}")  # fmt: skip
    else:
        await call.theirs.request("setRemoteDescription", **offer)
        answer = (await call.theirs.request("createAnswer"))["sdp"]
        only = sdp.only_payloads(answer, "audio", ["9"])
        error = await _refused(call.ours, "setRemoteDescription", type="answer", sdp=only)
        expect(error and "codec" in error.message, "an error that names the codec", f"it was {error}")
    expect((await call.ours.request("getStats")).get("stats") is not None, "ours to live on", "it gives no statistics")


_FLOOD = """
import os, socket, struct, sys
address, port = sys.argv[1], int(sys.argv[2])
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
rtp = lambda n: struct.pack(">BBHII", 0x80, 111, n, n * 960, 0x5EED) + os.urandom(80)
rtcp = struct.pack(">BBHI", 0x81, 203, 1, 0x5EED)
check = struct.pack(">HHI", 1, 8, 0x2112A442) + os.urandom(12) + b"\\x00\\x06\\x00\\x03a:b\\x00"
for n in range(400):
    for packet in (rtp(n), rtcp, check, bytes([20 + n % 44]) + os.urandom(n % 300), os.urandom(1 + n % 1400), b""):
        out.sendto(packet, (address, port))
"""


@case("packets from nobody", offers=(THEIRS,))
async def flood(call):
    """A third host sends RTP, RTCP, checks, DTLS and noise to our port: none of it is heard, and the call goes on."""
    async with Capture(call) as capture:
        await call.open()
        await call.connect()
        await call.listen(1.0)
        pair = [event.members for event in call.ours.trail if event.name == "selectedcandidatepairchange"][-1]
        port = pair["local"]["port"]
        mark = call.ours.mark()
        command = call.network.inside(call.network.hub, sys.executable, "-c", _FLOOD, call.ours.host.address, str(port))
        flood = await asyncio.create_subprocess_exec(*command)
        await call.listen(2.0, settle=0)
        expect(await flood.wait() == 0, "the flood to be sent", "it was not")
        await capture.end()
    # Who was not there would have said so by ICMP, which quotes the datagram: one to our port, and no answer of ours
    # that came after its sender had ended.
    arrived = await capture.packets(f"ip.src == {call.network.hub.address} && udp.dstport == {port} && !icmp")
    refused = await capture.packets(f"icmp.type == 3 && udp.dstport == {port}")
    call.measured["flood"] = len(arrived)
    expect(len(arrived) >= 2000 and not refused, f"the 2400 datagrams of the flood to reach port {port}",
           f"{len(arrived)} were seen, and {len(refused)} refused")  # fmt: skip
    gap = mark.heard(until=call.ours.mark()).longest_gap(call.ours.partner_melody)
    expect(gap <= 0.3, "ours to hear on under the flood", f"there was a gap of {gap * 1000:.0f} ms")
    expect(not mark.events("connectionstatechange"), "our connection to stay as it is", f"{mark.events()}")
