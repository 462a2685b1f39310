"""The page that `callsim live --serve` has for browsers."""

import asyncio
import os

from ..case import THEIRS, about_only, case
from ..page import Page
from ..tool import Tool
from ..verdict import Skipped, expect

_TONE = 440
_PLACE = "127.0.0.1:8080"


class _Server(Tool):
    """callsim, which serves the page for one call."""

    def __init__(self, call):
        super().__init__(call, "server", call.ours.host)
        self._recording = call.ours.recording

    async def __aenter__(self):
        self.program = os.environ["CALLSIM"]
        await self._start("live", f"--serve={_PLACE}", "--once", f"--play=tone:{_TONE}", f"--record={self._recording}",
                          ready="open http://")  # fmt: skip
        return self

    async def __aexit__(self, *_):
        await self._stop()

    async def status(self, within):
        """Of its exit, which it comes to by itself; nil if it does not."""
        try:
            return await asyncio.wait_for(self.process.wait(), within)
        except TimeoutError:
            return None


# The states as the page shows them, by their names.
_STATES = """Object.fromEntries([...document.querySelectorAll('#states .state')].map(
  cell => [cell.querySelector('small').innerText.toLowerCase(), cell.querySelector('b').innerText]))"""

# The selected pair, once both ends are there.
_PAIR = "document.querySelectorAll('#path code').length === 2 && document.getElementById('path').innerText"

# The rows of its statistics: name, browser's value, callsim's value.
_ROWS = "[...document.querySelectorAll('#stats tr')].map(row => [...row.cells].map(cell => cell.innerText))"

# The loudest frequency of what the page plays, in Hz.
_PITCH = """(() => {
  window.ear ??= (() => {
    const context = new AudioContext({ sampleRate: 48000 })
    const node = new AnalyserNode(context, { fftSize: 16384 })
    context.createMediaStreamSource(document.getElementById('audio').srcObject).connect(node)
    return node
  })()
  const bins = new Float32Array(ear.frequencyBinCount)
  ear.getFloatFrequencyData(bins)
  const loudest = bins.indexOf(Math.max(...bins))
  return bins[loudest] > -60 ? loudest * 48000 / 16384 : 0
})()"""


async def _loud(page, meter, level=-40):
    """Waits until a meter says that something is heard, and returns what it says."""
    text = f"document.getElementById('{meter}Text').innerText"
    return await page.until(f"parseInt({text}) > {level} && {text}", f"the meter '{meter}' above {level} dB")


def _expect_statistics(rows):
    values = {name: (browser, ours) for name, browser, ours in rows}
    for name in ("Packets sent", "Packets received"):
        for side, value in zip(("browser", "callsim"), values.get(name, ("–", "–"))):
            expect(value.isdigit() and int(value) > 0, f"{name} of {side} in the page's table", f"it says {value!r}")
    for name in ("Round trip", "Jitter", "DTLS role", "SRTP"):
        said = values.get(name, ("–", "–"))
        expect("–" not in said, f"{name} of both sides in the page's table", f"it says {said}")


@case("the page of live --serve", offers=(THEIRS,), timeout=60,
      without=about_only("chromium", "the page is opened in Chromium"))  # fmt: skip
async def page(call):
    """A browser opens our page and presses Call, Mute and Hang up: the page shows the call, and both are heard."""
    if call.ours.kind.name != "callsim":
        raise Skipped(f"{call.ours.kind.name} serves no page")
    async with _Server(call) as server, Page(call, call.ours.host, f"http://{_PLACE}/", call.theirs.melody) as page:
        call.theirs.agent = page.agent
        await page.press("call")
        clock = asyncio.get_running_loop().time
        began = clock()
        await page.until(f"({_STATES}).connection === 'connected'", "the page to say connected")
        call.measured["connected"] = clock() - began
        states = await page.evaluate(_STATES)
        expect(states["dtls"] == "connected" and states["signalling"] == "stable", "DTLS connected and signalling stable",
               f"the page says {states}")  # fmt: skip
        pair = await page.until(_PAIR, "a selected pair on the page")
        expect(pair.count("udp") == 2 and call.ours.host.address in pair, "both ends of the pair", f"the page says {pair!r}")
        await call.listen(2.0, sides=[call.ours])
        for meter in ("mic", "far", "heard"):
            call.measured[meter] = await _loud(page, meter)
        pitch = await page.until(_PITCH, "the page to play a sound")
        expect(abs(pitch - _TONE) < 6, f"the page to play {_TONE} Hz", f"it plays {pitch:.0f} Hz")
        _expect_statistics(await page.until(f"({_ROWS}).length > 0 && {_ROWS}", "statistics on the page"))
        await page.press("mute")
        await call.until_silent(call.ours)
        mark = call.ours.mark()
        await page.press("mute")
        await call.until_heard(call.ours, mark)
        await page.press("end")
        status = await server.status(within=5)
        said = server.said()[-300:]
        expect(status == 0, "callsim to end with 0 when the page hung up", f"it ended with {status}: {said!r}")
        expect("remote-hangup" in said, "callsim to say remote-hangup", f"it said {said!r}")
        await page.until(f"({_STATES}).connection === 'closed' && !document.getElementById('call').disabled",
                         "the page to say closed, and to be ready for another call")  # fmt: skip
        expect(not page.exceptions, "no exception on the page", f"it threw {page.exceptions}")
