"""ICE restarts: new credentials and new pairs under a call that goes on."""

import asyncio

from .. import sdp
from ..capture import Capture
from ..case import SAMPLED, case
from ..verdict import Skipped, expect


async def _restart(call, restarter):
    async with Capture(call) as capture:
        await call.open()
        first = await call.connect()
        await call.listen(1.0)
        marks = {peer: peer.mark() for peer in call.peers}
        second = await call.negotiate(restarter, ice_restart=True)
        old = {*sdp.ufrags(first.offer), *sdp.ufrags(first.answer)}
        new = {*sdp.ufrags(second.offer), *sdp.ufrags(second.answer)}
        kept = sorted(old & set(sdp.ufrags(second.answer)))
        if kept and restarter is call.ours and call.theirs.kind.name in ("aiortc", "gstreamer"):
            raise Skipped(f"{call.theirs.kind.name} answers an ICE restart with the credentials it has")
        expect(not old & new, "new ICE credentials from both sides", f"these stayed: {sorted(old & new)}")
        for peer, mark in marks.items():
            # It tells of addresses alone, and they stay.
            if peer.kind.name == "janus":
                continue
            await peer.until(
                lambda _, mark=mark: mark.events("selectedcandidatepairchange"), "a pair of the new generation", within=8
            )
        call.measured["restarted"] = max(
            events[0].time - mark.time
            for mark in marks.values()
            if (events := mark.events("selectedcandidatepairchange"))
        )
        # Checks of the selected pair come every 2.5 s at the latest, so within three some would be seen.
        await asyncio.sleep(1.0)
        after = asyncio.get_running_loop().time()
        await call.listen(2.5, settle=0)
        for peer, mark in marks.items():
            gap = mark.heard(until=peer.mark()).longest_gap(peer.partner_melody)
            expect(gap <= 0.4, f"{peer} to hear on over the restart", f"there was a gap of {gap * 1000:.0f} ms")
        silent_for = asyncio.get_running_loop().time() - after
        await capture.end()
        packets = await capture.packets(f"ip.src == {call.ours.host.address} && stun.type == 0x0001", "frame.time_epoch", "stun.att.username")
        last = float((await capture.packets("udp", "frame.time_epoch"))[-1][0])
        late = sorted({
            username
            for when, username in packets
            if float(when) > last - silent_for and username and any(ufrag in old for ufrag in username.split(":"))
        })  # fmt: skip
        expect(not late, "no checks of the old generation from ours, a second after the restart", f"there were some, of {late}")


@case("ICE restart by ours", timeout=50, sample=SAMPLED)
async def by_ours(call):
    """We restart: new credentials both ways, a new pair, and the call is heard all the while."""
    await _restart(call, call.ours)


@case("ICE restart by theirs", timeout=50)
async def by_theirs(call):
    """The other side restarts."""
    await _restart(call, call.theirs)
