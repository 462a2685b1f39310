#!/usr/bin/env python3
"""Lays our congestion control in virtual time beside a browser's in real time, on the same simulated links.

    interop/congestion.py [--callsim PATH] [--command 'interop/peer chromium --microphone'] [--seeds 3] [--real-seeds 1]
                          [--write docs/congestion.md] [--quick] [LINK...]

Alice is once our stack and once the browser, and sends pictures of 640 by 480 at 30 a second to bob, who is our stack. Her
uplink is limited. A median of the browser that lies more than a fifth outside what our seeds have is marked in the page. It
ends with 0 when every link was measured; with 1 when not; with 7 when this machine cannot run real programs. A run in which
the browser or the simulation had to wait is played again. --quick plays our side alone, with one seed.
"""

import statistics
import sys
from dataclasses import dataclass

from differential import Unavailable
from fidelity import SHARE, arguments, in_real_time, record, spread

OUTBOUND, PAIR = "outbound-rtp.video", "candidate-pair"
SETTLING, LENGTH = 20, 20


@dataclass
class Link:
    """What alice's uplink is limited to, and from when."""

    name: str
    title: str
    limits: tuple


LINKS = (
    Link("rate-300", "300 kbit/s", ((0, "rate: 300kbps"),)),
    Link("rate-500", "500 kbit/s", ((0, "rate: 500kbps"),)),
    Link("rate-1000", "1 Mbit/s", ((0, "rate: 1Mbps"),)),
    Link("loss-2", "1 Mbit/s, 2 % lost at random", ((0, "rate: 1Mbps, loss: 2%"),)),
    Link("halved", "1.2 Mbit/s, halved 10 s before the measurement", ((0, "rate: 1.2Mbps"), (10, "rate: 600kbps"))),
    Link("returned", "600 kbit/s, doubled 10 s before the measurement", ((0, "rate: 600kbps"), (10, "rate: 1.2Mbps"))),
)  # fmt: skip


def per_second(name, scale=1.0):
    return lambda window: window.growth(name) / (window.end - window.start) * scale


# The name, and how it comes from what getStats counts.
STATISTICS = (
    ("targetBitrate, kbit/s", lambda window: window.mean(f"{OUTBOUND}.targetBitrate") / 1000),
    ("availableOutgoingBitrate, kbit/s", lambda window: window.mean(f"{PAIR}.availableOutgoingBitrate") / 1000),
    ("bytesSent, kbit/s", per_second(f"{OUTBOUND}.bytesSent", 0.008)),
    ("framesSent, a second", per_second(f"{OUTBOUND}.framesSent")),
    ("currentRoundTripTime, ms", lambda window: window.mean(f"{PAIR}.currentRoundTripTime") * 1000),
)

# What no call reaches, with the unit: statistics are read where an expectation names them, whatever they are.
BOUNDS = {
    f"{OUTBOUND}.targetBitrate": "1000Mbps", f"{PAIR}.availableOutgoingBitrate": "1000Mbps",
    f"{OUTBOUND}.bytesSent": "1000MB", f"{OUTBOUND}.framesSent": "1000000000", f"{PAIR}.currentRoundTripTime": "8000h",
}  # fmt: skip


def scenario(link):
    faults = [
        f"  - {{ {'id: limited, ' if not after else ''}after: {1 + after}s, of: alice.connected, "
        f"fault: link.set, link: a, direction: tx, {limit} }}"
        for after, limit in link.limits
    ]
    return "\n".join([
        "callsim: 1",
        f"id: congestion/{link.name}",
        f"title: {link.title}",
        "media: real",
        "limits: { virtual: 2min }",
        "topology:",
        "  networks: { lan: { cidr: 10.0.0.0/24 } }",
        "  links:",
        "    a: { from: alice, to: lan, delay: 25ms }",
        "    b: { from: bob, to: lan, delay: 25ms }",
        "  servers: { hub: { kind: signalling, network: lan } }",
        "peers:",
        "  alice: { profile: knotos, video: { size: 640x480, frame_rate: 30 } }",
        "  bob: { profile: knotos, video: { size: 640x480, frame_rate: 30 }, devices: { camera: none } }",
        "timeline:",
        "  - { at: 1s, do: alice.call, to: bob }",
        "  - { when: bob.call.state == ringing, after: 500ms, do: bob.accept }",
        *faults,
        f"  - {{ mark: settled, after: {SETTLING}s, of: limited }}",
        f"  - {{ mark: measured, after: {LENGTH}s, of: settled }}",
        "  - { id: bye, after: 500ms, of: measured, do: bob.hangup }",
        "expect:",
        "  - { always: alice.call.state == connected, between: [settled, measured] }",
        *(f"  - {{ metric: alice.stats.{name}, stat: last, lt: {bound} }}" for name, bound in BOUNDS.items()), "",
    ])  # fmt: skip


def play(options, link, seed, replacements=()):
    played, window = record(options, link.name, scenario(link), seed, replacements)
    return played, {name: value(window) for name, value in STATISTICS}


def play_real(options, link, seed):
    replacements = [f"alice=external:{options.command}"]
    return in_real_time(link.name, seed, lambda: play(options, link, seed, replacements))


def row(name, ours, theirs):
    differs = theirs and (
        statistics.median(theirs) > max(ours) * (1 + SHARE) or statistics.median(theirs) < min(ours) * (1 - SHARE)
    )
    return f"| {name} | {spread(ours)} | {spread(theirs)} | {'more than a fifth' if differs else ''} |"


def report(tables, options):
    lines = [
        "# Congestion control beside a browser", "",
        "Alice sends pictures of 640 by 480, 30 a second, in VP8 to bob over a limited uplink: once she is our stack in "
        f"virtual time ({options.seeds} seeds), once a browser in real time ({options.real_seeds}). Both lines have a "
        f"delay of 25 ms. The measurement takes {LENGTH} s and begins {SETTLING} s after the limit. The tables show medians, "
        "with the minimum and maximum. `make congestion` plays this and writes the page.", "",
    ]  # fmt: skip
    for link, ours, theirs in tables:
        lines += [f"## {link.name}: {link.title}", ""]
        if not theirs:
            lines += ["No run of the browser kept up with the clock on the machine that wrote this page.", ""]
        lines += ["| statistic | ours | browser | apart by |", "|---|---|---|---|"]
        lines += [row(name, [one[name] for one in ours], [one[name] for one in theirs]) for name, _ in STATISTICS]
        lines += [""]
    return "\n".join(lines)


def main():
    options, links = arguments(__doc__, "link", LINKS, seeds=3, real_seeds=1)
    tables, problems = [], 0
    for link in links:
        ours, theirs = [], []
        for seed in range(1, 2 if options.quick else options.seeds + 1):
            played, measured = play(options, link, seed)
            ours.append(measured)
            if played.result["verdict"] != "pass":
                problems += 1
                print(f"{link.name}: it does not pass in virtual time: {played.result['findings'][0]['actual']}")
        for seed in range(1, 1 if options.quick else options.real_seeds + 1):
            try:
                real = play_real(options, link, seed)
            except Unavailable as reason:
                print(f"skipped: {reason}")
                return 7
            if real is None:
                problems += 1
                print(f"{link.name}, seed {seed}: no run of the browser kept up")
            else:
                theirs.append(real[1])
        tables.append((link, ours, theirs))
        print(f"{link.name}: {len(ours)} runs of ours, {len(theirs)} of the browser's", flush=True)
    text = report(tables, options)
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    elif not options.quick:
        print(text)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
