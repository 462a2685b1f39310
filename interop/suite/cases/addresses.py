"""Candidates that are not an IPv4 address."""

from ..case import case
from ..verdict import Skipped, expect


@case("IPv6", network={"ipv4": False, "ipv6": True})
async def ipv6(call):
    """A network without IPv4."""
    await call.open()
    await call.connect()
    await call.listen(1.5)
    call.measure_first_heard()
    for peer in call.peers:
        pair = [event.members for event in peer.trail if event.name == "selectedcandidatepairchange"]
        expect(pair and ":" in pair[-1]["local"]["address"], f"{peer} to send from an IPv6 address", f"it said {pair[-1:]}")


@case("mDNS names", peers=("chromium",), network={"flat": True})
async def mdns(call):
    """The browser hides its address behind a .local name, as for a page without a permission; we resolve the name."""
    names = []

    def only_names(candidate):
        if ".local " not in (candidate["candidate"] or ""):
            return None
        names.append(candidate["candidate"])
        return candidate

    # It is told no candidate of ours, so no check reaches it before we have resolved its name and sent one.
    call.edits.candidate = only_names
    await call.open(theirs_options=("--mdns",))
    await call.connect(within=15)
    if not names:
        raise Skipped("this browser hides nothing")
    await call.listen(1.5)
    call.measure_first_heard()
