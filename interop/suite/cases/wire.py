"""What is seen on the wire."""

from .. import sdp
from ..capture import Capture, CaptureFile
from ..case import OURS, THEIRS, about_only, case
from ..verdict import Skipped, expect

_CHROMIUM_ONLY = about_only("chromium", "it is about what Chromium does")


def _wrong_srtcp(packet):
    """What is wrong with the part of an SRTCP packet that nothing encrypts (RFC 3711 section 3.4); nil if nothing is."""
    if packet[0] >> 6 != 2:
        return f"version {packet[0] >> 6}"
    if packet[1] not in (200, 201):
        return f"a compound that begins with {packet[1]}, not with a report (RFC 3550 section 6.1)"
    length = (int.from_bytes(packet[2:4], "big") + 1) * 4
    # What protects it adds the index, four bytes, and a tag of ten or more.
    if length > len(packet) - 14:
        return f"a first report of {length} bytes in a packet of {len(packet)}"
    return None


async def _expect_well_formed(call, capture, prefix=""):
    """Wireshark calls nothing of ours malformed, and finds of ours what belongs to a call."""
    # Having seen the handshake, Wireshark takes what follows SRTCP's first header for more reports, though it is
    # encrypted, and calls it malformed whenever the bits fall that way. So of SRTCP only what is in clear is looked at.
    bad = await capture.packets("_ws.malformed && !srtcp", "frame.number", "ip.src", "_ws.col.Protocol")
    # RTP is only told by its look.
    rtp = ("--enable-heuristic", "rtp_udp")
    bad += await capture.packets("_ws.malformed && rtp && !rtcp && !srtcp", "frame.number", "ip.src", options=rtp)
    ours = [packet for packet in bad if packet[1] == call.ours.host.address]
    reports = await capture.packets(
        f"ip.src == {call.ours.host.address} && udp.payload[0:1] >= 80 && udp.payload[0:1] <= bf && "
        "udp.payload[1:1] >= c0 && udp.payload[1:1] <= df", "udp.payload"
    )  # fmt: skip
    expect(reports, "RTCP from ours", f"tshark finds none in {capture.path}")
    for (payload,) in reports:
        wrong = _wrong_srtcp(bytes.fromhex(payload.replace(":", "")))
        expect(not wrong, "SRTCP whose part in clear is right", wrong)
    call.measured[f"{prefix}rtcp"] = len(reports)
    expect(not ours, "no malformed packet from ours", f"tshark calls these malformed: {ours[:10]}")
    if bad:
        call.measured[f"{prefix}malformed from theirs"] = len(bad)
    seen = await capture.packets(f"ip.src == {call.ours.host.address} && !icmp", "frame.protocols", options=rtp)
    for protocol in ("stun", "dtls", "rtp"):
        count = sum(protocol in stack.split(":") for (stack,) in seen)
        call.measured[prefix + protocol] = count
        expect(count, f"{protocol} packets from ours", f"tshark finds none in {capture.path}")


@case("no malformed packet", timeout=90)
async def well_formed(call):
    """Wireshark reads every packet of a call, from the first check to the last words, in its capture and in ours."""
    # What we capture ourselves has the keys in it as well.
    own = CaptureFile(call.folder / "own.pcapng")
    async with Capture(call) as capture:
        await call.open(ours_options=("--capture", own.path) if call.ours.kind.name == "callsim" else ())
        await call.connect()
        await call.listen(2.0)
        await call.ours.request("close")
        await capture.end()
    await _expect_well_formed(call, capture)
    if call.ours.kind.name == "callsim":
        await call.ours.stop()
        await _expect_well_formed(call, own, "own ")


_DTLS_1_3 = "0xfefc"


async def _captured(call):
    """A short call, and the capture of it."""
    async with Capture(call) as capture:
        await call.open()
        await call.connect()
        await call.listen(1.0)
    return capture


@case("ClientHello in two datagrams", offers=(OURS,), without=_CHROMIUM_ONLY)
async def split_client_hello(call):
    """The browser's ClientHello offers DTLS 1.3 with a post-quantum key share, too much for a datagram; 1.2 is agreed."""
    capture = await _captured(call)
    hello = f"ip.src == {call.theirs.host.address} && dtls.handshake.type == 1"
    fragments = await capture.packets(hello, "dtls.handshake.fragment_offset", "dtls.handshake.length",
                                      "dtls.handshake.fragment_length")  # fmt: skip
    parts = [part for part in fragments if part[1] != part[2]]
    expect(len(parts) >= 2, "a ClientHello in fragments", f"the capture has {fragments}")
    call.measured["ClientHello"] = f"{parts[0][1]} bytes in {len({part[0] for part in parts})} parts"
    transport = (await call.theirs.stats("transport"))[0]
    call.measured["DTLS"] = transport["tlsVersion"]
    offered = await capture.packets(hello, "dtls.handshake.extensions.supported_version")
    expect(any(_DTLS_1_3 in versions.split(",") for (versions,) in offered), f"DTLS 1.3 ({_DTLS_1_3}) to be offered",
           f"supported_versions has {offered}")  # fmt: skip
    expect(transport["tlsVersion"] == "FEFD", "DTLS 1.2 (FEFD) to be agreed", f"it is {transport['tlsVersion']}")


@case("USE-CANDIDATE in the first check", offers=(THEIRS,), without=_CHROMIUM_ONLY)
async def aggressive_nomination(call):
    """The browser controls and nominates with its first check, before any pair has proven itself."""
    capture = await _captured(call)
    checks = await capture.packets(
        f"ip.src == {call.theirs.host.address} && stun.type == 0x0001", "stun.att.type"
    )
    expect(checks and "0x0025" in checks[0][0], "USE-CANDIDATE in its first check", f"it has {checks[:1]}")


@case("RTX probes", offers=(THEIRS,), without=_CHROMIUM_ONLY)
async def rtx_probes(call):
    """The browser probes for bandwidth with retransmissions of video that we never asked for, and the pictures go on."""
    async with Capture(call) as capture:
        await call.open(video=True)
        exchange = await call.connect()
        await call.watch(3.0, settle=1.0)
        await capture.end()
    section = next(text for text in sdp.sections(exchange.answer) if text.startswith("m=video"))
    repair = {line.split()[0] for line in sdp.values(section, "rtpmap") if line.split()[1] == "rtx/90000"}
    sent = await capture.media(call.theirs.host, "udp.payload")
    packets = [bytes.fromhex(payload.replace(":", "")) for (payload,) in sent]
    probes = [packet for packet in packets if not 192 <= packet[1] <= 223 and str(packet[1] & 0x7F) in repair]
    expect(probes, "packets of RTX from the browser", f"none of {len(packets)} is one")
    call.measured["RTX packets"] = len(probes)
