#!/usr/bin/env python3
"""Asks our TURN server and coturn the same questions, and lets programs written elsewhere use ours as their own.

Prints a line for each case and exits with 1 when one fails, with 7 when none passed. A server or program that cannot
be had is skipped, and said so. Where coturn is known to differ from RFC 8656, the row says how, and fails when that is no
longer so.
"""

import argparse
import itertools
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
_VENV = Path(os.environ.get("INTEROP_VENV", HERE / ".venv"))
if (_VENV / "bin/python").exists() and Path(sys.prefix).resolve() != _VENV.resolve():
    os.execv(_VENV / "bin/python", [str(_VENV / "bin/python"), *sys.argv])
sys.path.insert(0, str(HERE))

from suite import network  # noqa: E402
from turn import table, tools  # noqa: E402
from turn.client import Silence  # noqa: E402
from turn.servers import ADDRESS, USERS, Callsim, Coturn  # noqa: E402

CALLSIM = HERE.parent / ".build-release/release/callsim"
# Below the ports that a system gives to clients (32768 and up), so that no connection holds one.
_ports = itertools.count(20_000, 10)


class Tally:
    def __init__(self, only):
        self.only, self.counts = only, {"PASS": 0, "FAIL": 0, "SKIP": 0, "DIFFERS": 0}

    def wants(self, name):
        return not self.only or any(part.lower() in name.lower() for part in self.only)

    def note(self, verdict, name, what="", seconds=None):
        self.counts[verdict] += 1
        took = f"  {seconds * 1000:.0f} ms" if seconds is not None else ""
        print(f"{verdict:7} {name}{took}{f'  ({what})' if what else ''}", flush=True)

    def finish(self, counts=None):
        passed, failed, skipped, differ = (self.counts[name] for name in ("PASS", "FAIL", "SKIP", "DIFFERS"))
        print(f"{passed} passed, {failed} failed, {skipped} skipped, {differ} known differences of coturn")
        if counts:
            counts.write_text(f"{passed} {failed} {skipped}\n")
        return 1 if failed else 0 if passed else 7


def ask(kind, row, transport, server):
    """Returns what there is to note."""
    began = time.monotonic()
    try:
        with server.client(transport, "alice", USERS["alice"], ADDRESS) as client:
            row.run(client)
    except (table.Different, Silence, AssertionError, OSError) as error:
        what = f"{error}" or type(error).__name__.lower()
        known = kind is Coturn and row.coturn == what
        return "DIFFERS" if known else "FAIL", what, None
    if kind is Coturn and row.coturn:
        return "FAIL", f"coturn no longer differs: {row.coturn}", None
    return "PASS", "", time.monotonic() - began


def run_table(tally, kind, why_not):
    for row in table.rows():
        for transport in row.transports:
            name = f"{kind.name} {transport}: {row.name}"
            if not tally.wants(name):
                continue
            if why_not:
                tally.note("SKIP", name, why_not)
                continue
            try:
                with kind(next(_ports), row.options) as server:
                    verdict, what, seconds = ask(kind, row, transport, server)
                tally.note(verdict, name, what, seconds)
            except RuntimeError as error:
                tally.note("FAIL", name, f"{error}")


def run_tools(tally, why_not):
    both = ("long-term", "time-limited")
    cases = [
        (f"coturn's client, {credentials}, {transport}", tools.relayed_messages, transport, credentials, None)
        for credentials in both
        for transport in ("udp", "tcp", "tls")
    ]
    cases += [
        ("coturn's client with Send indications", lambda *all: tools.relayed_messages(*all, ("-s",)), "udp", both[0], None),
        ("coturn's client with a wrong secret is refused", tools.wrong_secret, "udp", both[1], None),
        ("coturn's STUN client", tools.binding, "udp", both[0], None),
        ("coturn's NAT behaviour discovery", tools.nat_behaviour, "udp", both[0], ("127.0.0.2", 3479)),
    ]
    cases += [
        (f"aioice relay only, {credentials}, {transport}", tools.aioice_ping, transport, credentials, None)
        for credentials in both
        for transport in ("udp", "tcp", "tls")
    ]
    for name, run, transport, credentials, alternate in cases:
        name = f"callsim: {name}"
        if not tally.wants(name):
            continue
        if why_not:
            tally.note("SKIP", name, why_not)
            continue
        began = time.monotonic()
        try:
            with Callsim(next(_ports), credentials=credentials, alternate=alternate) as server:
                what = run(server, transport, credentials)
            tally.note("PASS", name, what or "", time.monotonic() - began)
        except tools.Skipped as reason:
            tally.note("SKIP", name, f"{reason}")
        except (tools.Wrong, RuntimeError) as error:
            tally.note("FAIL", name, f"{error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", metavar="TEXT", help="cases with this in their name; may be repeated")
    parser.add_argument("--callsim", type=Path, default=CALLSIM, help="the program (default: %(default)s)")
    parser.add_argument("--counts", type=Path, metavar="FILE", help="write how many passed, failed and were skipped")
    options = parser.parse_args()
    options.callsim = options.callsim.resolve()
    if reason := network.enter():
        print(f"note: {reason}; the machine's own loopback is used", file=sys.stderr)
    tally = Tally(options.only)
    why_not = Callsim.missing(str(options.callsim))
    run_table(tally, Callsim, why_not)
    run_tools(tally, why_not)
    run_table(tally, Coturn, Coturn.missing(None))
    return tally.finish(options.counts)


if __name__ == "__main__":
    sys.exit(main())
