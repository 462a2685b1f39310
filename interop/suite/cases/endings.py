"""Who hangs up, and how soon the other side knows."""

import asyncio
import time

from ..capture import Capture
from ..case import OURS, THEIRS, case
from ..verdict import expect


_ALERT = "21"


async def _hang_up(call, ender):
    other = call.other(ender)
    async with Capture(call) as capture:
        await call.open()
        await call.connect()
        await call.listen(1.0)
        mark = other.mark()
        began = time.monotonic()
        await ender.request("close")
        await other.until_state("dtls", "closed", within=3)
        call.measured["noticed after"] = time.monotonic() - began
        await call.until_silent(other)
        # Whoever has closed says nothing more.
        await asyncio.sleep(1.0)
        await capture.end()
    states = [f"{event.name.removesuffix('statechange')} {event.members['state']}" for event in mark.events()
              if event.name.endswith("statechange")]  # fmt: skip
    call.measured["states"] = ", ".join(states) or "none"
    sent = await capture.packets(f"ip.src == {ender.host.address} && udp && !icmp", "frame.time_epoch",
                                 "dtls.record.content_type")  # fmt: skip
    alerts = [float(when) for when, kinds in sent if _ALERT in kinds.split(",")]
    expect(alerts, f"{ender} to send a DTLS alert, its close_notify", "there is none in the capture")
    rest = float(sent[-1][0]) - alerts[0]
    expect(rest < 0.5, f"{ender} to send nothing after it", f"it sent for another {rest:.1f} s")


@case("hang-up by ours", offers=(OURS, THEIRS),
      without={"pion": "Pion 3.1 takes no notice of close_notify: it ends when ICE does"})  # fmt: skip
async def by_ours(call):
    """We close: close_notify goes out, and they notice at once."""
    await _hang_up(call, call.ours)


@case("hang-up by theirs", offers=(OURS, THEIRS),
      without={"gstreamer": "webrtcbin 1.22 ends without a word: neither close_notify nor BYE"})  # fmt: skip
async def by_theirs(call):
    """They close, and we notice at once."""
    await _hang_up(call, call.theirs)
