#!/usr/bin/env python3
"""Plays scenarios twice, once with our stack in virtual time and once with a browser as one of the peers in real time,
and compares which states the peers went through, in which order and when.

    interop/differential.py [--callsim PATH] [--peer alice] [--command 'interop/peer chromium --microphone']
                            [--write docs/differential.md] [SCENARIO[,variable=value]...]

It ends with 0 when every difference, of order or of a time beyond its bound, is explained in differential.json; with 1
when not; with 7 when this machine cannot run real programs. A real run that differs without explanation is played
again: what comes of the machine's load or of lost packets does not repeat itself, a timer does.
"""

import argparse
import json
import math
import re
import subprocess
import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

SCENARIOS = (
    "lan/same-wifi", "nat/home-to-home", "nat/double", "nat/symmetric-both-with-turn",
    "nat/symmetric-against-open-filters,filter=address", "ipv6/dual-stack", "turn/relay-only", "mobility/nasty-link",
    "mobility/blackhole-3s", "mobility/blackhole-8s", "mobility/blackhole-40s", "mobility/wifi-to-lte-with-restart",
    "nat/reboot-with-restart", "audio/mute-survives-ice-restart,who=alice", "dtls/one-flight-lost,flight=1",
    "dtls/one-flight-lost,flight=4", "dtls/one-flight-lost,flight=5", "dtls/one-flight-lost,flight=6",
)  # fmt: skip

MACHINES = ("signaling.state", "ice.state", "dtls.state", "connection.state")

# A state may be this much earlier or later than in the simulation, counted from the entry of the timeline before it;
# long waits may differ by a share of themselves, because when a fault meets a check is chance.
BOUND, SHARE = 0.3, 0.2

# How often a real run is played until nothing in it is unexplained.
ATTEMPTS = 4

EXPLANATIONS = Path(__file__).with_name("differential.json")


class Unavailable(Exception):
    pass


@dataclass
class Step:
    """A state that was entered, and when: in seconds, since the last entry of the timeline and since the start."""

    state: str
    entry: str
    since_entry: float
    time: float


@dataclass
class Played:
    result: dict
    steps: dict  # of each peer and state machine
    agents: list  # what the programs call themselves

    @property
    def is_in_real_time(self):
        return self.result["verdict"] != "inconclusive"

    def until_the_end(self, peer, machine):
        """Without what follows the end of the run: that is tidying up."""
        end = self.result["virtualNanoseconds"] / 1e9
        return [step for step in self.steps.get((peer, machine), []) if step.state != "closed" and step.time <= end]

    @property
    def setup(self):
        """How long it took from the first side's connecting until both were connected."""
        connections = [steps for (_, machine), steps in self.steps.items() if machine == "connection.state"]
        connected = [next((step.time for step in steps if step.state == "connected"), None) for steps in connections]
        return None if None in connected else max(connected) - min(steps[0].time for steps in connections)


def play(callsim, scenario, replacement):
    name, *cell = scenario.split(",")
    command = [callsim, "run", f"scenarios/{name}.yaml", "--seed", "1", "--json", "--artifacts", "all"]
    if cell:
        command += ["--cell", ",".join(cell)]
    if replacement:
        command += ["--peer", replacement, "--pass-env", "CHROMIUM"]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    runs = [event for line in outcome.stdout.splitlines() if "result" in (event := json.loads(line))]
    if len(runs) != 1:
        raise SystemExit(f"{scenario} is {len(runs)} runs, and has to be one:\n{outcome.stdout}{outcome.stderr}")
    result = runs[0]["result"]
    if result["verdict"] == "skipped":
        raise Unavailable(result["findings"][0]["actual"])
    traces = [name for name in runs[0].get("artifacts", []) if name.endswith("/trace.jsonl")]
    if not traces:
        raise SystemExit(f"{scenario} left no trace: {result['findings']}")
    with open(traces[0], encoding="utf-8") as lines:
        return read(lines, result)


def read(lines, result):
    """Finds the states in a trace."""
    played = Played(result, {}, [])
    entry, fired = "start", 0.0
    for line in lines:
        # Packets are most of a trace, and are not looked at.
        if '"kind":"packet.' in line or '"kind":"media.' in line:
            continue
        event = json.loads(line)
        time, kind = event["t"] / 1e9, event["kind"]
        fields = event.get("fields") or {}
        if kind == "timeline.fired":
            entry, fired = fields["entry"], time
        elif kind == "program.agent":
            played.agents.append(fields["name"])
        elif kind in MACHINES:
            # Who has not heard that the other's candidates ended, which Chromium never has, does not say completed.
            state = "connected" if fields["value"] == "completed" else fields["value"]
            steps = played.steps.setdefault((event["subject"], kind), [])
            if not steps or steps[-1].state != state:
                steps.append(Step(state, entry, time - fired, time))
    return played


class Comparison:
    """What became of one state machine of one peer in both runs."""

    def __init__(self, scenario, peer, machine, ours, theirs):
        self.scenario, self.peer, self.machine = scenario, peer, machine
        self.ours, self.theirs = text(ours), text(theirs)
        self.states = {"ours": [step.state for step in ours], "theirs": [step.state for step in theirs]}
        self.is_in_order = self.states["ours"] == self.states["theirs"]
        self.offsets = []
        for one, other in zip(ours, theirs):
            # From here on the order differs, and times say nothing.
            if one.state != other.state:
                break
            # Nor do they across an entry of the timeline, if counted since it; then those since the start do.
            same = one.entry == other.entry
            expected, measured = (one.since_entry, other.since_entry) if same else (one.time, other.time)
            self.offsets.append((measured - expected, max(BOUND, SHARE * expected), one.state))

    @property
    def worst(self):
        return max(self.offsets, key=lambda offset: abs(offset[0]) / offset[1], default=None)

    @property
    def is_in_time(self):
        return all(abs(offset) <= bound for offset, bound, _ in self.offsets)

    @property
    def differences(self):
        if not self.is_in_order:
            yield Difference("order", "order", self)
        if not self.is_in_time:
            yield Difference("time", f"time of {self.worst[2]}", self)


class Difference:
    """A state machine that took another order, or another time to a state that both runs have in order."""

    def __init__(self, difference, what, comparison):
        self.difference, self._what, self._comparison = difference, what, comparison
        self.scenario, self.peer, self.machine = comparison.scenario, comparison.peer, comparison.machine
        self.states = comparison.states

    def __str__(self):
        ours, theirs = self._comparison.ours, self._comparison.theirs
        return f"{self.peer} {self.machine} ({self._what}): ours {ours}; theirs {theirs}"


def text(steps):
    return " → ".join(f"{step.state} {step.time:.2f}" for step in steps) or "none"


class Failure:
    """What a scenario expects and the real run did not have, though the simulated one did."""

    difference = "expectation"

    def __init__(self, scenario, finding, real):
        self.scenario, self.title, self.actual = scenario, finding["title"], finding["actual"]
        self.seconds_late = self._seconds_late(real)

    def _seconds_late(self, real):
        """How long after it was found connecting a peer said that it is connected; infinity if it never did, or if
        that is not what was found."""
        found = re.match(r"false at ([0-9.]+) s: (\w+)\.call\.state is connecting ", self.actual)
        if not found:
            return math.inf
        # What is found is rounded to milliseconds.
        began = float(found[1]) - 0.001
        steps = real.steps.get((found[2], "connection.state"), [])
        return min((step.time - began for step in steps if step.state == "connected" and step.time >= began), default=math.inf)

    def __str__(self):
        return f"`{self.title}`: {self.actual}"


def explanation(difference, explanations):
    """The entry that says why. One about order explains those states and no others, one about a time explains no order,
    and one about an expectation that one as it went wrong, for no longer than it says."""
    for entry in explanations:
        if (
            entry["difference"] == difference.difference
            and all(
                fnmatchcase(getattr(difference, key), entry[key])
                for key in ("scenario", "peer", "machine", "title", "actual") if key in entry
            )
            and all(difference.states[side] == entry[side] for side in ("ours", "theirs") if side in entry)
            and ("seconds late" not in entry or difference.seconds_late <= entry["seconds late"])
        ):  # fmt: skip
            return entry["why"]
    return None


class Pair:
    """A scenario played in virtual and in real time."""

    def __init__(self, scenario, virtual, real, explanations):
        self.scenario, self.virtual, self.real = scenario, virtual, real
        # The runs that were played before or after it and not kept, by their numbers.
        self.attempts, self.discarded = 1, {}
        self.comparisons = [
            Comparison(scenario, *key, virtual.until_the_end(*key), real.until_the_end(*key))
            for key in sorted(set(virtual.steps) | set(real.steps))
        ]
        differences = [difference for comparison in self.comparisons for difference in comparison.differences]
        if real.is_in_real_time:
            differences += [Failure(scenario, finding, real) for finding in real.result["findings"]]
        self.differences = [(difference, explanation(difference, explanations)) for difference in differences]

    @property
    def problems(self):
        problems = [str(difference) for difference, why in self.differences if why is None]
        if self.virtual.result["verdict"] != "pass":
            problems.append(f"it does not pass in virtual time: {self.virtual.result['findings'][0]['actual']}")
        return problems

    @property
    def rank(self):
        return len(self.problems), not self.real.is_in_real_time

    @property
    def expectations(self):
        if not self.real.is_in_real_time:
            return "not judged"
        return "not all met" if self.real.result["findings"] else "met"

    @property
    def row(self):
        same = sum(comparison.is_in_order for comparison in self.comparisons)
        worst = max((c for c in self.comparisons if c.worst), key=lambda c: abs(c.worst[0]) / c.worst[1], default=None)
        shown = f"{worst.worst[0] * 1000:+.0f} ms, {worst.peer} {worst.machine} {worst.worst[2]}" if worst else ""
        lag = self.real.result["realTime"]["usualLagNanoseconds"] / 1e6
        return (
            f"| {self.scenario} | {same} of {len(self.comparisons)} | {shown} | {milliseconds(self.virtual.setup)} "
            f"| {milliseconds(self.real.setup)} | {self.expectations} | {lag:.1f} ms | {self.attempts} |"
        )


def milliseconds(value):
    return "never" if value is None else f"{value * 1000:.0f} ms"


def play_both(options, scenario, explanations):
    """The real run is the one with the fewest differences that nothing explains, of as many as it takes."""
    virtual = play(options.callsim, scenario, None)
    runs = {}
    for attempt in range(1, ATTEMPTS + 1):
        real = play(options.callsim, scenario, f"{options.peer}=external:{options.command}")
        pair = runs[attempt] = Pair(scenario, virtual, real, explanations)
        if not pair.problems and real.is_in_real_time:
            break
        reasons = pair.problems or [real.result["findings"][0]["actual"]]
        print(f"{scenario}, run {attempt}: {'; '.join(reasons)}", flush=True)
    best = min(runs.values(), key=lambda pair: pair.rank)
    best.attempts, best.discarded = len(runs), {attempt: pair for attempt, pair in runs.items() if pair is not best}
    return best


def discarded_orders(pairs):
    """What had another order in runs that were not kept."""
    return [
        f"{pair.scenario}, run {attempt}: {difference}{'' if why else ', not explained'}"
        for pair in pairs
        for attempt, discarded in pair.discarded.items()
        for difference, why in discarded.differences
        if difference.difference == "order"
    ]


def report(pairs):
    agents = " and ".join(sorted({agent for pair in pairs for agent in pair.real.agents})) or "another program"
    lines = [
        "# Differential runs", "",
        "The same scenario file, timeline and seed, once with two of our peers in virtual time and once in real time "
        f"with {agents} as one of them, behind the same simulated network. `make differential` plays them and writes "
        "this page; `interop/differential.py mobility/blackhole-8s` compares one and writes nothing.", "",
        "Compared are the signalling, ICE, DTLS and connection states of both peers: their order, and when each was "
        f"entered, counted from the last entry of the timeline. A state may come {BOUND * 1000:.0f} ms or {SHARE:.0%} "
        "of the wait earlier or later, whichever is more; where the order differs, up to there. `completed` counts as `connected`: who does not hear that "
        "the other's candidates ended, as Chromium never does, stays there. What follows the end of a run is not "
        "compared. Every difference beyond that, and every expectation that only the real run did not meet, is listed "
        "below with its reason, from `interop/differential.json`; one without makes the command fail.", "",
        f"A real run that lags or in which something is unexplained is played again, up to {ATTEMPTS} times: what "
        "comes of the machine's load or of which packets were lost does not repeat itself, a timer does. The last "
        "column says how often; another order in a run that was not kept is told at the end. Set-up is the time from the first `connecting` until both sides say `connected`. The "
        "lag is what 99 % of the real run's events did not exceed: what the machine may add to any time. Where it is "
        "beyond what the scenario allows, its expectations are not judged.", "",
        "| scenario | machines in the same order | largest difference in time | set-up, ours | set-up, theirs "
        "| expectations in real time | lag | played |",
        "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    lines += [pair.row for pair in pairs]
    lines += ["", "## What differs, and why", "", "Times are seconds since the start.", ""]
    reasons = {}
    for pair in pairs:
        for difference, why in pair.differences:
            reasons.setdefault((pair.scenario, why or "Not explained."), []).append(difference)
    for (scenario, why), differences in reasons.items():
        lines += [f"**{scenario}**: {why}", "", *(f"- {difference}" for difference in differences), ""]
    if not reasons:
        lines += ["Nothing.", ""]
    lines += ["## Other orders in runs that were not kept", ""]
    return "\n".join([*lines, *(f"- {order}" for order in discarded_orders(pairs) or ["none"]), ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--callsim", default=".build-release/release/callsim")
    parser.add_argument("--peer", default="alice")
    parser.add_argument("--command", default="interop/peer chromium --microphone")
    parser.add_argument("--write", type=Path, help="a Markdown page to write")
    parser.add_argument("scenarios", nargs="*", default=SCENARIOS)
    options = parser.parse_args()
    explanations = json.loads(EXPLANATIONS.read_text(encoding="utf-8"))
    pairs = []
    for scenario in options.scenarios:
        try:
            pair = play_both(options, scenario, explanations)
        except Unavailable as reason:
            print(f"skipped: {reason}")
            return 7
        pairs.append(pair)
        same = sum(comparison.is_in_order for comparison in pair.comparisons)
        late = sum(not comparison.is_in_time for comparison in pair.comparisons)
        print(f"{scenario}: {same} of {len(pair.comparisons)} in the same order, {late} out of time, "
              f"{len(pair.problems)} not explained, played {pair.attempts} times", flush=True)  # fmt: skip
    if options.write:
        options.write.write_text(report(pairs), encoding="utf-8")
    for order in discarded_orders(pairs):
        print(f"in a run that was not kept: {order}")
    problems = [f"{pair.scenario}, {problem}" for pair in pairs for problem in pair.problems]
    for problem in problems:
        print(f"not explained: {problem}")
    machines = sum(len(pair.comparisons) for pair in pairs)
    print(f"{len(pairs)} scenarios, {machines} state machines, {len(problems)} not explained")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
