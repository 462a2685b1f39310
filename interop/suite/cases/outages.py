"""A path that swallows everything for a while."""

import asyncio

from ..case import case
from ..verdict import expect


async def _black_hole(call, seconds):
    await call.open()
    await call.connect()
    await call.listen(1.0)
    marks = {peer: peer.mark() for peer in call.peers}
    await call.network.swallow()
    await asyncio.sleep(seconds)
    await call.network.restore()
    back = {peer: peer.mark() for peer in call.peers}
    for peer in call.peers:
        call.measured[f"{peer.role} heard again after"] = await call.until_heard(peer, back[peer], within=8)
        for state in ("disconnected", "failed"):
            after = marks[peer].entered("ice", state)
            if after is not None:
                call.measured[f"{peer.role} {state} after"] = after
        again = back[peer].entered("ice", "connected", "completed")
        if again is not None:
            call.measured[f"{peer.role} connected again after"] = again
        expect(marks[peer].entered("connection", "failed") is None, f"{peer} not to fail", "it did")
    ours = [event.members["state"] for event in marks[call.ours].events("iceconnectionstatechange")]
    await call.listen(1.5, settle=1.5)
    ours = [event.members["state"] for event in marks[call.ours].events("iceconnectionstatechange")]
    expect(
        ours[:1] in ([], ["disconnected"]) and ours[-1:] in ([], ["connected"], ["completed"]),
        "ours to be disconnected and connected again, or neither",
        f"it was {ours}",
    )
    return ours


@case("black hole of 3 s", timeout=60)
async def short(call):
    """Nothing goes through for 3 s, then all does: no state is lost, and both hear again."""
    await _black_hole(call, 3)


@case("black hole of 8 s", timeout=60)
async def longer(call):
    """Nothing goes through for 8 s: long enough to be disconnected, short enough to come back without a restart."""
    states = await _black_hole(call, 8)
    expect(states[:1] == ["disconnected"], "ours to be disconnected within 8 s", f"its states were {states}")
