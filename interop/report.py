#!/usr/bin/env python3
"""Opens the page of `callsim run --report html=FILE` in headless Chromium, by keyboard, at two widths and in both schemes.

    interop/report.py [--callsim PATH] [--pictures docs/report] [--budget 1.0] [--page FILE] [SCENARIOS...]

The scenarios of interop/report are always among those that are played: some of their runs fail, and one has text that
would harm a page that took it for markup. With --page another page is opened, too, that of a suite which was played
before: its size and speed are checked. With --pictures the page's pictures are made anew. It ends with 0 when all
holds, with 1 when not, with 7 where there is no Chromium.
"""

import argparse
import asyncio
import base64
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers.chromium import FLAGS, DevTools, program
from peers.protocol import PeerError

ROOT = Path(__file__).resolve().parent.parent
RUN_LIMIT = 300_000
KEYS = {"Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), "ArrowDown": ("ArrowDown", 40, ""),
        "ArrowUp": ("ArrowUp", 38, "")}  # fmt: skip


class Broken(Exception):
    pass


class Browser:
    """A page in headless Chromium that fails on whatever it says or asks for."""

    def __init__(self, profile):
        self._devtools = DevTools(self._on_event)
        self._profile = profile
        self.loaded = None
        self.complaints = []

    async def start(self):
        await self._devtools.start(
            [program(), *FLAGS, "--force-prefers-reduced-motion", "--hide-scrollbars", f"--user-data-dir={self._profile}",
             "about:blank"], subprocess.DEVNULL)  # fmt: skip
        targets = (await self._devtools.send("Target.getTargets"))["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = (await self._devtools.send("Target.attachToTarget", targetId=page, flatten=True))["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self.send(f"{domain}.enable")

    async def send(self, method, **parameters):
        return await asyncio.wait_for(self._devtools.send(method, self._session, **parameters), 60)

    async def stop(self):
        await self._devtools.stop()

    def _on_event(self, method, parameters):
        if method == "Page.loadEventFired" and self.loaded and not self.loaded.done():
            self.loaded.set_result(None)
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(parameters["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(f"console: {parameters['args']}")
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith(("file:", "data:")):
            self.complaints.append(f"it asks for {parameters['request']['url']}")

    async def look(self, width, height, scheme="light", scale=1):
        await self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                        mobile=width < 600)  # fmt: skip
        await self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        await self.settle()

    async def open(self, page):
        """Opens it, and gives the seconds until it shows its table."""
        self.loaded = asyncio.get_running_loop().create_future()
        begin = time.monotonic()
        await self.send("Page.navigate", url=page.as_uri())
        await asyncio.wait_for(self.loaded, 60)
        await self.settle()
        return time.monotonic() - begin

    async def settle(self):
        await self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    async def value(self, expression):
        answer = await self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise Broken(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    async def press(self, *keys):
        for key in keys:
            name, code, text = KEYS.get(key) or (key, ord(key.upper()), key)
            down = {"type": "keyDown" if text else "rawKeyDown", "key": name, "windowsVirtualKeyCode": code}
            await self.send("Input.dispatchKeyEvent", **down, **({"text": text} if text else {}))
            await self.send("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)
        await asyncio.sleep(0.1)
        await self.settle()

    async def picture(self, path, height=None):
        size = await self.value("({width: innerWidth, height: innerHeight})")
        clip = {"x": 0, "y": 0, "width": size["width"], "height": height or size["height"],
                "scale": 0.7 if size["width"] > 1000 else 1}  # fmt: skip
        picture = await self.send("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(picture["data"]))


def check(holds, what):
    print(("ok     " if holds else "BROKEN ") + what)
    if not holds:
        raise Broken(what)


def write_page(callsim, folder, scenarios, name="report.html"):
    page = folder / name
    outcome = subprocess.run(
        [callsim, "run", *scenarios, "--artifacts", "fail", "--report", f"html={name}"],
        cwd=folder, capture_output=True, text=True, check=False)  # fmt: skip
    if outcome.returncode not in (0, 1) or not page.exists():
        raise Broken(f"callsim ended with {outcome.returncode}:\n{outcome.stdout[-2000:]}{outcome.stderr}")
    return page


def sizes(page):
    """The bytes of each block of data, by its id."""
    blocks = page.read_text(encoding="utf-8").split('<script type="application/json" id="')[1:]
    return {block.split('"', 1)[0]: len(block.split("</script>", 1)[0].encode()) for block in blocks}


def size_check(page):
    runs = sorted((size, name) for name, size in sizes(page).items() if name.startswith("run-"))
    print(f"page of {page.stat().st_size} bytes, {len(runs)} runs, the largest {runs[-1][0]}, the median {runs[len(runs) // 2][0]}")
    check(runs[-1][0] < RUN_LIMIT, f"no run takes more than {RUN_LIMIT} bytes")


async def table_check(browser, page, budget):
    """Opens a page twice, the second time with a warm browser, and gives the number of its cells."""
    await browser.open(page)
    seconds = await browser.open(page)
    cells, rows = await browser.value("[suite.cells.length, document.querySelectorAll('#rows tr[data-worst]').length]")
    check(rows == min(cells, 500) and cells > 1, f"the table has a row for each of {cells} cells")
    check(seconds < budget, f"it opens in {seconds:.2f} s, in less than {budget:g} s")
    return cells


async def suite_view(browser, cells):
    verdicts = "[...document.querySelectorAll('#rows .verdict')].map(node => node.textContent)"
    check("failed" in (await browser.value(verdicts))[0], "failures come first")
    check(await browser.value("document.title") == "callsim report", "text of a scenario is no markup")
    worst = await browser.value("[...document.querySelectorAll('#rows tr')].map(row => row.cells[2].textContent).find(text => text.includes('worst'))")
    check(bool(worst), f"cells are told over their seeds: {worst}")
    names = "[...document.querySelectorAll('#rows .name a')].map(node => node.textContent)"
    await browser.value("document.querySelector('th[data-key=name] button').click()")
    listed = await browser.value(names)
    # A control character is shown as U+FFFD, and sorted as what it is.
    readable = [name for name in listed if "\ufffd" not in name]
    check(len(readable) > 1 and readable == sorted(readable), "it sorts by name")
    check(await browser.value("document.querySelector('th[data-key=name]').ariaSort") == "ascending", "and says so")
    await browser.value("document.querySelector('th[data-key=verdict] button').click()")
    await browser.press("/", *"lost-tun")
    shown = await browser.value(names)
    check(0 < len(shown) < cells and all("lost-tunnel" in name for name in shown), f"'/' filters: {', '.join(shown)}")
    await browser.press("Enter")
    check(await browser.value("document.activeElement.matches('#rows tr')"), "Enter goes from the filter to the table")


async def run_view(browser):
    await browser.press("Enter")
    title = await browser.value("document.getElementById('run-title').textContent")
    check("report/lost-tunnel" in title, f"Enter opens the run {title}")
    texts = await browser.value("document.getElementById('run').textContent")
    for word in ("expected", "actual", "trail", "signature", "callsim replay", "Round trip", "Loss", "Bit rate",
                 "Buffer delay", "Packets dropped", "link.blackhole", "selected pair", "media", "Sound"):  # fmt: skip
        check(word in texts, f"the run shows '{word}'")
    check(await browser.value("document.querySelectorAll('.time svg .band').length") >= 1, "faults are bands")
    check(await browser.value("document.querySelectorAll('.time svg .window').length") == 1, "the failed window is marked")
    marks = await browser.value("document.querySelectorAll('.time svg .axis').length")
    await browser.press("x")
    check(await browser.value("document.querySelectorAll('.time svg .failure').length") >= 1 and marks > 4, "x shows the failure")
    await browser.press("x")
    overlaps = await browser.value(OVERLAPS)
    check(not overlaps, f"no text of the time axis lies on another {overlaps or ''}")
    unnamed = await browser.value("[...document.querySelectorAll('button, a[href], input, audio')].filter(node => node.offsetParent && !(node.textContent.trim() || node.ariaLabel || node.closest('label'))).length")
    check(unnamed == 0, "every control has a name")
    await browser.press("Escape")
    check(await browser.value("document.activeElement.matches('#rows tr') && !document.getElementById('suite').hidden"),
          "Esc goes back to the row")  # fmt: skip


# Pairs of texts of one size that lie on one another.
OVERLAPS = """(() => {
  const boxes = [...document.querySelectorAll('.time svg text')].map(node => [node.textContent, node.getBoundingClientRect()])
    .filter(([text, box]) => text && box.width);
  const found = [];
  boxes.forEach(([text, a], at) => boxes.slice(at + 1).forEach(([other, b]) => {
    const [x, y] = [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
    if (x > 3 && y > 5) found.push(`${text} / ${other}`);
  }));
  return found;
})()"""


async def widths(browser, page):
    for width, height in ((1600, 1000), (400, 800)):
        for scheme in ("light", "dark"):
            await browser.look(width, height, scheme)
            await browser.open(page)
            for view in ("suite", "run"):
                if view == "run":
                    await browser.press("j", "Enter")
                wide = await browser.value("document.documentElement.scrollWidth")
                check(wide <= width, f"at {width} pixels the {view} fits, {scheme}")
                if view == "run":
                    overlaps = await browser.value(OVERLAPS)
                    check(not overlaps, f"no text lies on another at {width} pixels {overlaps or ''}")
    back, text = await browser.value("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]")
    check(back != "rgb(246, 247, 249)", f"the dark scheme is dark: {text} on {back}")


async def pictures(browser, page, folder):
    folder.mkdir(parents=True, exist_ok=True)
    tunnel = "location.hash = 'run=' + encodeURIComponent(suite.runs[suite.cells.find(cell => cell.id.endsWith('lost-tunnel')).worst].id)"
    for name, width, height, scheme, target, tall in (
        ("suite", 1600, 760, "light", None, None), ("run", 1600, 1000, "light", tunnel, "whole"),
        ("run-dark", 1600, 1000, "dark", tunnel, 1500), ("suite-narrow", 400, 800, "dark", None, None),
        ("run-narrow", 400, 800, "light", tunnel, 1800),
    ):  # fmt: skip
        await browser.look(width, height, scheme)
        await browser.open(page)
        if target:
            await browser.value(target)
            await asyncio.sleep(0.3)
            await browser.settle()
        whole = await browser.value("document.documentElement.scrollHeight")
        await browser.picture(folder / f"{name}.png", whole if tall == "whole" else tall)
        print(f"wrote  {folder / name}.png, {(folder / f'{name}.png').stat().st_size} bytes")


async def main(options):
    with tempfile.TemporaryDirectory(prefix="callsim-report-") as work:
        # The page shows paths: those of a checkout, and nothing of this machine.
        folder = Path(work)
        (folder / "report").symlink_to(ROOT / "interop/report")
        (folder / "scenarios").symlink_to(ROOT / "scenarios")
        page = write_page(str(Path(options.callsim).resolve()), folder, ["report", *options.scenarios])
        size_check(page)
        again = write_page(str(Path(options.callsim).resolve()), folder, ["report/lost-tunnel.yaml"], "again.html")
        once = again.read_bytes()
        write_page(str(Path(options.callsim).resolve()), folder, ["report/lost-tunnel.yaml"], "again.html")
        check(once == again.read_bytes(), "the same runs give the same page")
        browser = Browser(folder / "profile")
        try:
            await browser.start()
            await browser.look(1600, 1000)
            if options.page:
                size_check(Path(options.page))
                await table_check(browser, Path(options.page).resolve(), options.budget)
            await suite_view(browser, await table_check(browser, page, options.budget))
            await run_view(browser)
            await widths(browser, page)
            if options.pictures:
                await pictures(browser, page, Path(options.pictures))
            check(not browser.complaints, "no error and no request")
        finally:
            for complaint in browser.complaints:
                print(f"the page: {complaint}")
            await browser.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--callsim", default=str(ROOT / ".build-release/release/callsim"))
    parser.add_argument("--pictures", help="a folder for pictures of the page")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds to open (default: %(default)g)")
    parser.add_argument("--page", help="the page of a suite that was played before")
    parser.add_argument("scenarios", nargs="*")
    try:
        program()
    except PeerError as error:
        print(f"not run: {error}")
        sys.exit(7)
    try:
        asyncio.run(main(parser.parse_args()))
    except Broken as problem:
        sys.exit(f"error: {problem}")
