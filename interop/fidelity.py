#!/usr/bin/env python3
"""Lays what our stack says of its media in virtual time beside what a browser says in real time, behind the same
simulated networks.

    interop/fidelity.py [--callsim PATH] [--command 'interop/peer chromium --microphone'] [--seeds 5] [--real-seeds 2]
                        [--write docs/fidelity.md] [--quick] [NETWORK...]

Alice is once our stack and once the browser; bob is our stack and sends speech. A statistic of the browser that lies
more than a fifth outside what our seeds have needs a reason in fidelity.json. It ends with 0 when each has one; with 1
when not, or when a statistic is never there; with 7 when this machine cannot run real programs. A run in which the
browser or the simulation had to wait is played again. --quick plays our side alone, with one seed: whether every
statistic of every network is there at all.
"""

import argparse
import json
import math
import statistics
import sys
import tempfile
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import differential
from differential import Unavailable

EXPLANATIONS = Path(__file__).with_name("fidelity.json")

# How often a real run is played until it kept up.
ATTEMPTS = 4

# How far outside the range of our seeds the browser may be.
SHARE = 0.2


@dataclass
class Network:
    """What is wrong with bob's line, both ways, how bob and alice encode, and how bob alone does."""

    name: str
    title: str
    line: str = ""
    audio: str = ""
    bob: str = ""
    command: str = ""


NETWORKS = (
    Network("clean", "25 ms on each of two lines, nothing lost"),
    Network("loss-5", "5 % of the packets lost at random", "loss: 5%"),
    Network("bursts", "10 % lost in bursts of 100 ms on average (Gilbert)",
            "loss: { kind: gilbert, rate: 10%, mean_burst: 100ms }"),
    Network("jitter-50", "exponential jitter of 50 ms, order kept", "jitter: { dist: exponential, amount: 50ms }"),
    Network("reorder", "uniform jitter of 50 ms, packets overtake each other",
            "jitter: { dist: uniform, amount: 50ms, order: allow }"),
    Network("rate-40", "40 kbit/s behind a queue of one second", "rate: 40kbps, queue: 1s"),
    Network("dtx", "nothing lost, both sides send nothing in pauses", audio="dtx: true", command="--dtx"),
    Network("ptime-60", "nothing lost, bob sends packets of 60 ms", bob="ptime: 60ms"),
)  # fmt: skip

INBOUND, OUTBOUND, REPORTED = "inbound-rtp.audio", "outbound-rtp.audio", "remote-inbound-rtp.audio"
PAIR = "candidate-pair"


def share(part, *whole):
    """So much of a counter for each of others, in percent."""
    return lambda window: 100 * window.ratio(window.growth(part), sum(window.growth(name) for name in whole))


def mean(name, scale=1.0):
    return lambda window: window.mean(name) * scale


def reported(name, scale=1.0):
    return lambda window: window.mean_of_reports(f"{REPORTED}.{name}") * scale


def each(part, whole, scale):
    return lambda window: scale * window.ratio(window.growth(part), window.growth(whole))


SAMPLES = f"{INBOUND}.totalSamplesReceived"
RECEIVED = (f"{INBOUND}.packetsReceived", f"{INBOUND}.packetsLost")
SENT = f"{OUTBOUND}.packetsSent"

# The name, how it comes from what getStats counts, and what is too little to be a difference.
STATISTICS = (
    ("jitter, ms", mean(f"{INBOUND}.jitter", 1e3), 3.0),
    ("packetsLost, %", share(f"{INBOUND}.packetsLost", *RECEIVED), 1.0),
    ("packetsDiscarded, %", share(f"{INBOUND}.packetsDiscarded", *RECEIVED), 0.5),
    ("concealedSamples, %", share(f"{INBOUND}.concealedSamples", SAMPLES), 0.3),
    ("silentConcealedSamples, %", share(f"{INBOUND}.silentConcealedSamples", SAMPLES), 0.3),
    ("concealmentEvents, a minute", each(f"{INBOUND}.concealmentEvents", SAMPLES, 48_000 * 60), 6.0),
    ("jitterBufferDelay / EmittedCount, ms",
     each(f"{INBOUND}.jitterBufferDelay", f"{INBOUND}.jitterBufferEmittedCount", 1e3), 10.0),
    ("jitterBufferTargetDelay / EmittedCount, ms",
     each(f"{INBOUND}.jitterBufferTargetDelay", f"{INBOUND}.jitterBufferEmittedCount", 1e3), 10.0),
    ("insertedSamplesForDeceleration, %", share(f"{INBOUND}.insertedSamplesForDeceleration", SAMPLES), 0.2),
    ("removedSamplesForAcceleration, %", share(f"{INBOUND}.removedSamplesForAcceleration", SAMPLES), 0.2),
    ("fecPacketsReceived, % of packets", share(f"{INBOUND}.fecPacketsReceived", f"{INBOUND}.packetsReceived"), 5.0),
    ("level by totalAudioEnergy",
     lambda window: math.sqrt(max(0.0, window.ratio(
         window.growth(f"{INBOUND}.totalAudioEnergy"), window.growth(f"{INBOUND}.totalSamplesDuration")))), 0.02),
    ("packetsSent, a second", lambda window: window.ratio(window.growth(SENT), window.duration), 2.0),
    ("bytesSent, kbit/s", lambda window: window.ratio(window.growth(f"{OUTBOUND}.bytesSent"), window.duration) * 0.008, 2.0),
    ("outbound nackCount", lambda window: window.growth(f"{OUTBOUND}.nackCount"), 1.0),
    ("remote-inbound packetsLost, % of packetsSent", share(f"{REPORTED}.packetsLost", SENT), 1.0),
    ("remote-inbound fractionLost, %", reported("fractionLost", 100), 1.0),
    ("remote-inbound jitter, ms", reported("jitter", 1e3), 3.0),
    ("remote-inbound roundTripTime, ms", reported("roundTripTime", 1e3), 10.0),
    ("currentRoundTripTime of the pair, ms", mean(f"{PAIR}.currentRoundTripTime", 1e3), 10.0),
)  # fmt: skip

# Everything above is made of these, and a scenario records what its expectations read.
MEMBERS = {
    INBOUND: (
        "jitter", "packetsReceived", "packetsLost", "packetsDiscarded", "concealedSamples", "silentConcealedSamples",
        "concealmentEvents", "jitterBufferDelay", "jitterBufferEmittedCount", "jitterBufferTargetDelay",
        "insertedSamplesForDeceleration", "removedSamplesForAcceleration", "totalSamplesReceived", "fecPacketsReceived",
        "totalAudioEnergy", "totalSamplesDuration",
    ),
    OUTBOUND: ("packetsSent", "bytesSent", "nackCount"),
    REPORTED: ("packetsLost", "fractionLost", "jitter", "roundTripTime"),
    PAIR: ("currentRoundTripTime",),
}  # fmt: skip

# What no call of a minute reaches, with the unit: statistics are read where an expectation names them, whatever they are.
BOUND = "1000000000000"
BOUNDS = {
    **dict.fromkeys(("jitter", "jitterBufferDelay", "jitterBufferTargetDelay", "totalSamplesDuration", "roundTripTime",
                     "currentRoundTripTime"), "8000h"),
    "fractionLost": "100%", "bytesSent": "1000MB",
}  # fmt: skip

SETTLING, LENGTH = 10, 30


def scenario(network):
    audio, bob = (f", audio: {{ {keys} }}" if keys else "" for keys in (network.audio, network.audio or network.bob))
    fault = f"fault: link.set, link: b, {network.line}" if network.line else "mark: impaired"
    name = "id: impaired, " if network.line else ""
    expectations = [
        f"  - {{ metric: alice.stats.{kind}.{member}, stat: last, lt: {BOUNDS.get(member, BOUND)} }}"
        for kind, members in MEMBERS.items() for member in members
    ]  # fmt: skip
    return "\n".join([
        "callsim: 1",
        f"id: fidelity/{network.name}",
        f"title: {network.title}",
        "media: real",
        "limits: { virtual: 2min }",
        "topology:",
        "  networks: { lan: { cidr: 10.0.0.0/24 } }",
        "  links:",
        "    a: { from: alice, to: lan, delay: 25ms }",
        "    b: { from: bob, to: lan, delay: 25ms }",
        "  servers: { hub: { kind: signalling, network: lan } }",
        "peers:",
        f"  alice: {{ profile: knotos{audio} }}",
        f"  bob: {{ profile: knotos{bob} }}",
        "timeline:",
        "  - { at: 1s, do: alice.call, to: bob }",
        "  - { when: bob.call.state == ringing, after: 500ms, do: bob.accept }",
        f"  - {{ {name}after: 1s, of: alice.connected, {fault} }}",
        f"  - {{ mark: settled, after: {SETTLING}s, of: impaired }}",
        f"  - {{ mark: measured, after: {LENGTH}s, of: settled }}",
        "  - { id: bye, after: 500ms, of: measured, do: bob.hangup }",
        "expect:",
        "  - { always: alice.call.state == connected, between: [settled, measured] }",
        *expectations, "",
    ])  # fmt: skip


class Window:
    """What one run's trace has of the statistics, from when they had settled."""

    def __init__(self, lines):
        self._values, marks = {}, {}
        for line in lines:
            if '"kind":"stats.' in line:
                event = json.loads(line)
                if event["subject"] == "alice":
                    name, value = event["kind"].removeprefix("stats."), event["fields"]["value"]
                    # A trace has times in nanoseconds, and getStats in seconds.
                    scale = 1e-9 if BOUNDS.get(name.rpartition(".")[2], "").endswith("h") else 1
                    self._values.setdefault(name, []).append((event["t"] / 1e9, value * scale))
            elif '"kind":"timeline.fired"' in line:
                event = json.loads(line)
                marks[event["fields"]["entry"]] = event["t"] / 1e9
        self.start, self.end = marks["settled"], marks["measured"]

    def _within(self, name):
        inside = [(time, value) for time, value in self._values.get(name, []) if self.start <= time <= self.end]
        if not inside:
            raise KeyError(name)
        return inside

    @property
    def duration(self):
        return self.growth(f"{INBOUND}.totalSamplesDuration")

    def growth(self, name):
        inside = self._within(name)
        return inside[-1][1] - inside[0][1]

    def mean(self, name):
        inside = self._within(name)
        return sum(value for _, value in inside) / len(inside)

    def mean_of_reports(self, name):
        """Of what reports brought within it. Samples repeat what the last report said, however long ago."""
        values = [value for _, value in self._within(name)]
        news = [value for before, value in zip(values, values[1:]) if value != before]
        return sum(news) / len(news) if news else values[-1]

    @staticmethod
    def ratio(part, whole):
        return part / whole if whole else 0.0


def measure(window):
    """Every statistic of a run; none where the peer does not have it."""
    measured = {}
    for name, value, _ in STATISTICS:
        try:
            measured[name] = value(window)
        except KeyError:
            measured[name] = None
    return measured


def record(options, name, text, seed, replacements):
    """Plays one run of a scenario. Returns it, and what its trace has of the statistics."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.yaml")
        path.write_text(text, encoding="utf-8")
        result, trace = differential.run(options.callsim, path, seed, replacements, "--out", f"{folder}/runs")
        played = differential.Played(result, {}, [])
        with open(trace, encoding="utf-8") as lines:
            lines = list(lines)
        played.agents = [json.loads(line)["fields"]["name"] for line in lines if '"kind":"program.agent"' in line]
        return played, Window(lines)


def in_real_time(name, seed, play):
    """One run that kept up, of as many as it takes; none when none did. `play` returns a run, and what it measured."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            played, measured = play()
        except KeyError as missing:
            print(f"{name}, seed {seed}, run {attempt}: it never came to {missing}", flush=True)
            continue
        if played.is_in_real_time:
            return played, measured
        print(f"{name}, seed {seed}, run {attempt}: {played.result['findings'][0]['actual']}", flush=True)
    return None


def play(options, network, seed, replacements=()):
    played, window = record(options, network.name, scenario(network), seed, replacements)
    return played, measure(window)


def play_real(options, network, seed):
    replacements = [f"alice=external:{options.command} {network.command}".strip()]
    return in_real_time(network.name, seed, lambda: play(options, network, seed, replacements))


class Row:
    """One statistic of one network, of all runs on both sides."""

    def __init__(self, network, statistic, floor, ours, theirs, explanations):
        self.network, self.statistic, self._floor = network, statistic, floor
        self._is_measured = bool(theirs)
        self.ours = [value for value in ours if value is not None]
        self.theirs = [value for value in theirs if value is not None]
        self.why = next(
            (entry["why"] for entry in explanations
             if fnmatchcase(network, entry["network"]) and fnmatchcase(statistic, entry["statistic"])), None
        )  # fmt: skip

    @property
    def differs(self):
        if not self._is_measured:
            return False
        if not self.ours or not self.theirs:
            return bool(self.ours or self.theirs)
        # One run in which the machine was busy says little.
        theirs = statistics.median(self.theirs)
        low, high = min(self.ours), max(self.ours)
        outside = max(low - theirs, theirs - high, 0.0)
        return outside > max(self._floor, SHARE * max(abs(theirs), abs(low if theirs < low else high)))

    @property
    def is_explained(self):
        return not self.differs or self.why is not None

    @property
    def text(self):
        why = (self.why or "**not explained**") if self.differs else ""
        return f"| {self.statistic} | {spread(self.ours)} | {spread(self.theirs)} | {why} |"


def number(value):
    size = abs(value)
    return f"{value:.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}" if size >= 0.005 else "0"


def spread(values):
    """The median, and the least and most where they differ."""
    if not values:
        return "-"
    middle, low, high = (number(value) for value in (statistics.median(values), min(values), max(values)))
    return middle if low == high else f"{middle} ({low} to {high})"


def report(tables, agents, options):
    lines = [
        "# Media statistics beside a browser", "",
        f"Alice's `getStats` of a call with bob behind the same simulated network: once alice is our stack in "
        f"virtual time ({options.seeds} seeds), once {agents} in real time ({options.real_seeds}). Bob is our stack and sends speech; his line is "
        f"impaired both ways. The measurement takes {LENGTH} s and begins {SETTLING} s after the impairment. The tables show medians "
        "over the seeds, with the minimum and maximum. `make fidelity` plays this and writes the page.", "",
        f"A median of the browser that is more than {SHARE:.0%} outside the range of our seeds, and by more than a negligible "
        "amount, is a difference, and has its reason from `interop/fidelity.json`; one without a reason makes the "
        "command fail. A run in which the browser waited for a processor is inconclusive, and played again.", "",
    ]  # fmt: skip
    absent = [network.name for network in NETWORKS if network not in [played for played, _ in tables]]
    if absent:
        lines += [f"Not played for this page: {', '.join(absent)}.", ""]
    for network, rows in tables:
        lines += [f"## {network.name}: {network.title}", ""]
        if not any(row.theirs for row in rows):
            lines += ["No run of the browser kept up with the clock on the machine that wrote this page.", ""]
        lines += [
            "| statistic | ours | browser | why they differ |", "|---|---|---|---|", *(row.text for row in rows), "",
        ]  # fmt: skip
    return "\n".join(lines)


def arguments(about, what, things, seeds, real_seeds):
    """The options of the command line, and the things that it names: all without a name."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--callsim", default=".build-release/release/callsim")
    parser.add_argument("--command", default="interop/peer chromium --microphone")
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--real-seeds", type=int, default=real_seeds)
    parser.add_argument("--write", type=Path, help="a Markdown page to write")
    parser.add_argument("--quick", action="store_true", help="our side alone, one seed")
    names = [thing.name for thing in things]
    parser.add_argument("names", nargs="*", metavar=what.upper(), help=", ".join(names[:2]) + ", …")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in names]
    if unknown:
        parser.error(f"there is no {what} {', '.join(unknown)}; there are {', '.join(names)}")
    by_name = dict(zip(names, things))
    return options, [by_name[name] for name in options.names or names]


def main():
    options, networks = arguments(__doc__, "network", NETWORKS, seeds=5, real_seeds=2)
    explanations = json.loads(EXPLANATIONS.read_text(encoding="utf-8"))
    tables, agents, problems = [], set(), []
    for network in networks:
        ours = []
        for seed in range(1, 2 if options.quick else options.seeds + 1):
            played, measured = play(options, network, seed)
            if played.result["verdict"] != "pass":
                problems.append(f"{network.name}: it does not pass in virtual time: {played.result['findings'][0]['actual']}")
            ours.append(measured)
        problems += [f"{network.name}: our stack has no {name}" for name, value in ours[0].items() if value is None]
        theirs = []
        for seed in range(1, 1 if options.quick else options.real_seeds + 1):
            try:
                real = play_real(options, network, seed)
            except Unavailable as reason:
                print(f"skipped: {reason}")
                return 7
            if real is None:
                problems.append(f"{network.name}, seed {seed}: no run of the browser kept up")
                continue
            agents.update(real[0].agents)
            theirs.append(real[1])
        rows = [
            Row(network.name, name, floor, [one[name] for one in ours], [one[name] for one in theirs], explanations)
            for name, _, floor in STATISTICS
        ]
        tables.append((network, rows))
        if theirs:
            problems += [f"{network.name}: not explained: {row.text}" for row in rows if not row.is_explained]
        print(f"{network.name}: {len(ours)} runs of ours, {len(theirs)} of the browser's", flush=True)
    if options.write:
        options.write.write_text(report(tables, " and ".join(sorted(agents)) or "a browser", options), encoding="utf-8")
    for problem in problems:
        print(problem)
    print(f"{len(networks)} networks, {len(STATISTICS)} statistics each, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
