#!/usr/bin/env python3
"""Puts callsim's peer in calls with software written elsewhere, and prints a table of what became of them."""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from suite import network, report, starvation  # noqa: E402
from suite.call import Call  # noqa: E402
from suite.case import OURS, PEERS, all_cases  # noqa: E402
from suite.peer import Kind, Peer, ProtocolError  # noqa: E402
from suite.report import Result  # noqa: E402
from suite.verdict import Crashed, Failed, Skipped  # noqa: E402

# Further attempts for a case whose programs got no processor when they needed one: what was heard says nothing about
# them then.
STARVED_RETRIES = 5
CALLSIM = HERE.parent / ".build-release/release/callsim"


def kinds(callsim):
    peer = str(HERE / "peer")
    return {
        "chromium": Kind("chromium", (peer, "chromium"), weight=0.6),
        "firefox": Kind("firefox", (peer, "firefox"), weight=0.6),
        "gstreamer": Kind("gstreamer", (peer, "gstreamer"), weight=0.3),
        "pion": Kind("pion", (peer, "pion"), weight=0.2),
        "janus": Kind("janus", (peer, "janus"), weight=0.2),
        "aiortc": Kind("aiortc", (peer, "aiortc"), weight=0.3),
        "callsim": Kind("callsim", (str(callsim), "live", "--stdio"), weight=0.15),
    }


def missing(kind):
    """Why a peer cannot be had here, or nil."""
    if kind.name == "chromium":
        names = (os.environ.get("CHROMIUM", "chromium"), "chromium-browser", "google-chrome")
        return None if any(map(shutil.which, names)) else "chromium is not installed"
    if kind.name == "firefox":
        names = (os.environ.get("FIREFOX", "firefox-esr"), "firefox")
        if not any(map(shutil.which, names)):
            return "firefox is not installed"
        return None if shutil.which("pulseaudio") else "pulseaudio is not installed, and Firefox wants a sound card"
    if kind.name == "janus":
        return None if shutil.which(os.environ.get("JANUS", "janus")) else "janus is not installed"
    if kind.name in ("aiortc", "gstreamer", "pion"):
        opening = '{"id":1,"method":"open"}\n'
        probe = subprocess.run(kind.command, input=opening, capture_output=True, text=True, timeout=60)
        answer = json.loads(probe.stdout.partition("\n")[0] or json.dumps({"error": {"message": f"{kind.name} does not start"}}))
        return answer.get("error", {}).get("message")
    if not os.access(kind.command[0], os.X_OK):
        return f"{kind.command[0]} is not built"
    return None


class Capacity:
    """Lets calls run beside each other as far as the machine can carry them in real time."""

    def __init__(self, total):
        self._free = self.total = total
        self._changed = asyncio.Condition()

    @contextlib.asynccontextmanager
    async def take(self, weight):
        weight = min(weight, self.total)
        async with self._changed:
            await self._changed.wait_for(lambda: self._free >= weight - 1e-9)
            self._free -= weight
        try:
            yield
        finally:
            async with self._changed:
                self._free += weight
                self._changed.notify_all()


async def play(case, offers, ours, theirs, folder):
    """Runs a case once. Returns its result; what a failed one leaves behind stays in its folder."""
    folder.mkdir(parents=True)
    result = Result(case, offers, theirs.name, folder)
    began = time.monotonic()
    call = None
    try:
        async with network.Network(**case.network) as wires, asyncio.timeout(case.timeout) as limit:
            call = Call(
                wires,
                limit,
                left := Peer(ours, "ours", "left", wires, folder, began),
                right := Peer(theirs, "theirs", "right", wires, folder, began),
                left if offers == OURS else right,
                folder,
            )
            try:
                async with starvation.Watch(call) as watch:
                    await case.run(call)
                result.passed()
            finally:
                result.starved = watch.reason
                result.take(call)
                programs = [*call.peers, *call.companions]
                codes = await asyncio.gather(*(program.stop() for program in programs))
                # Whatever else failed came of it.
                for peer, code in zip(programs, codes):
                    if code not in (0, None, -signal.SIGKILL):
                        raise peer.crashed(f"{peer} to exit with 0", f"it exited with {code}")
            for peer, code in zip(programs, codes):
                if code == -signal.SIGKILL:
                    raise Failed(f"{peer} to end", "it did not, and was killed")
    except Skipped as reason:
        result.skipped(str(reason))
    except Failed as failure:
        result.failed(failure.expected, failure.happened, is_conclusive=isinstance(failure, Crashed))
    except ProtocolError as error:
        result.failed(f"{error.method} to succeed", str(error))
    except TimeoutError:
        result.failed(f"an end within {case.timeout:g} s", "it was still going on")
    except Exception as problem:
        traceback.print_exc(file=open(folder / "suite.log", "w"))
        result.failed("the suite itself to work", f"{type(problem).__name__}: {problem} (see suite.log)")
    result.seconds = time.monotonic() - began
    return result


async def run(options):
    known = kinds(options.callsim)
    ours = known[options.ours]
    wanted = [known[name] for name in options.peer or PEERS]
    reasons = {kind.name: missing(kind) for kind in {*wanted, ours}}
    if reasons[ours.name]:
        sys.exit(f"error: {reasons[ours.name]}")
    folder = options.folder / time.strftime("%Y%m%d-%H%M%S")
    progress = report.Progress()

    async def attempt(capacity, case, offers, kind, number):
        name = f"{case.name}, {offers} offers, {kind.name}".replace(" ", "-").replace(",", "")
        result = Result(case, offers, kind.name, folder / name)
        blocked = reasons[kind.name] or options.blocked or ("takes minutes; ask for it with --long" if
                                                            case.long and not options.long else None)  # fmt: skip
        if kind.name in case.without:
            result.not_applicable(case.without[kind.name])
        elif blocked:
            result.skipped(blocked)
        else:
            place = folder / (name if number == 1 else f"{name}-{number}")
            async with capacity.take(ours.weight + kind.weight):
                result = await play(case, offers, ours, kind, place)
        result.attempt = number
        attempts = 1 if result.is_conclusive else 1 + max(options.retries, STARVED_RETRIES if result.starved else 0)
        result.deserves_another = result.is_failure and number < attempts
        progress.show(result)
        if not result.is_failure and not options.keep:
            await asyncio.to_thread(shutil.rmtree, result.folder, ignore_errors=True)
        return result

    # The longest first: at the end, little should be left that goes on alone.
    calls = [
        (case, offers, kind)
        for case in sorted(all_cases(), key=lambda case: -case.timeout)
        for row, offers in case.rows()
        for kind in wanted
        if (kind.name in case.sample or not options.sample)
        and (not options.only or any(part.lower() in f"{row}, {kind.name}".lower() for part in options.only))
    ]
    if not calls:
        sys.exit(f"error: no case has any of {options.only} in its name; --list shows them")
    began = time.monotonic()
    results = {}
    for number in itertools.count(1):
        # What failed is tried again when all the others are done, and with half as much beside it.
        capacity = Capacity(options.capacity / (1 if number == 1 else 2))
        results |= zip(calls, await asyncio.gather(*(attempt(capacity, *call, number) for call in calls)))
        calls = [call for call in calls if results[call].deserves_another]
        if not calls:
            break
    with contextlib.suppress(OSError):
        folder.rmdir()
    return report.finish(options, [*results.values()], [kind.name for kind in wanted], time.monotonic() - began)


def main():
    parser = argparse.ArgumentParser(prog="make interop", description=__doc__)
    parser.add_argument("--only", action="append", metavar="TEXT", help="cases with this in their name; may be repeated")
    parser.add_argument("--peer", action="append", choices=PEERS, help="against this one")
    parser.add_argument("--sample", action="store_true", help="a few cases alone: a call each way with each peer, and "
                        "relays and a restart with some")  # fmt: skip
    parser.add_argument("--list", action="store_true", help="name the cases, and end")
    parser.add_argument("--long", action="store_true", help="also cases that take minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every result to a file")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the results as JUnit XML")
    parser.add_argument("--counts", type=Path, metavar="FILE", help="write how many passed, failed and were skipped")
    parser.add_argument("--keep", action="store_true", help="keep logs, recordings and captures of every case")
    parser.add_argument("--capacity", type=float, default=os.cpu_count() * 1.5, metavar="N",
                        help="how much may go on at once; a call with Chromium is 0.75 (default: %(default)g)")  # fmt: skip
    parser.add_argument("--retries", type=int, default=0, metavar="N",
                        help="give a failed case so many further attempts, and say so (default: %(default)d)")  # fmt: skip
    parser.add_argument("--callsim", type=Path, default=CALLSIM, help="the program (default: %(default)s)")
    parser.add_argument("--ours", default="callsim", choices=PEERS,
                        help="who stands in our place")  # fmt: skip
    parser.add_argument("--folder", type=Path, default=Path("interop-runs"), help="where failed cases leave what they have")
    options = parser.parse_args()
    if options.list:
        # Whoever reads may have seen enough before the end: then writing ends the program, as it ends others.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        return report.list_cases(all_cases())
    options.folder = options.folder.resolve()
    options.blocked = network.enter()
    os.environ["CALLSIM"] = str(options.callsim.resolve())
    return asyncio.run(run(options))


if __name__ == "__main__":
    sys.exit(main())
