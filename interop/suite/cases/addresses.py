"""Candidates that are not an IPv4 address."""

import asyncio

from .. import sdp
from ..call import Edits
from ..case import case
from ..verdict import Skipped, expect


@case("IPv6", network={"ipv4": False, "ipv6": True})
async def ipv6(call):
    """A network without IPv4."""
    # Without a microphone Firefox uses the address alone from which it reaches its page, or an IPv4 host.
    options = {f"{peer.role}_options": ("--microphone",) for peer in call.peers if peer.kind.name == "firefox"}
    await call.open(**options)
    await call.connect()
    await call.listen(1.5)
    call.measure_first_heard()
    for peer in call.peers:
        pair = [event.members for event in peer.trail if event.name == "selectedcandidatepairchange"]
        expect(pair and ":" in pair[-1]["local"]["address"], f"{peer} to send from an IPv6 address", f"it said {pair[-1:]}")


async def _resolve(call, hider):
    """Candidates with names reach the other side, and no others: no check reaches the hider before its name was
    resolved."""
    names = []

    def only_names(candidate):
        if ".local " not in (candidate["candidate"] or ""):
            return None
        names.append(candidate["candidate"])
        return candidate

    call.edits = Edits(offer=sdp.without_addresses, answer=sdp.without_addresses, candidate=only_names)
    await call.open(**{f"{hider.role}_options": ("--mdns",)})
    # A name is announced twice, a second apart; whoever hears that need not ask.
    await asyncio.sleep(1.5)
    exchange = await call.connect(within=15)
    told = [*names, *sdp.values(exchange.offer + exchange.answer, "candidate")]
    if not any(".local " in candidate for candidate in told):
        raise Skipped(f"{hider.kind.name} hides nothing")
    await call.listen(1.5)
    call.measure_first_heard()


@case("mDNS names", without={"aiortc": "aiortc hides no address", "gstreamer": "webrtcbin 1.22 hides no address",
                              "janus": "Janus hides no address"}, network={"flat": True})
async def mdns(call):
    """They hide their address behind a .local name, as a browser does for a page without a permission; we resolve it."""
    await _resolve(call, call.theirs)


# What would resolve them on a machine where somebody answers for the system is not there in these networks.
_RESOLVES_NONE = {
    "chromium": "Chromium resolves no .local name of ours: ERR_NAME_NOT_RESOLVED",
    "firefox": "Firefox asks nobody for a name of ours: no query of its own leaves it",
    "gstreamer": "webrtcbin asks the system's resolver, which asks no multicast DNS here",
    "janus": "Janus asks the system's resolver, which asks no multicast DNS here",
}


@case("mDNS names of ours", without=_RESOLVES_NONE, network={"flat": True, "spare": True})
async def mdns_of_ours(call):
    """We hide our addresses on two interfaces behind names; on one of them they are, and resolve ours."""
    await _resolve(call, call.ours)
    names = [event.members["local"]["address"] for event in call.ours.trail if event.name == "selectedcandidatepairchange"]
    expect(names and names[-1].endswith(".local"), "our own name in our selected pair", f"it has {names[-1:]}")
