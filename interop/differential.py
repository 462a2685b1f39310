#!/usr/bin/env python3
"""Plays scenarios with our stack in virtual time, and in real time with a browser as one of the peers and as both, and
compares which states the peers went through, in which order and when.

    interop/differential.py [--callsim PATH] [--peer alice] [--other bob]
                            [--command 'interop/peer chromium --microphone'] [--write docs/differential.md]
                            [--runs FOLDER] [SCENARIO[,variable=value]...]

With --runs each row is kept in the folder when it was played, and not played again while it is there: the page can be
made in parts, as time and machine allow.

It ends with 0 when every difference, of order or of a time beyond its bound, is explained in differential.json; with 1
when not; with 7 when this machine cannot run real programs. A real run that differs without explanation is played
again: what comes of the machine's load or of lost packets does not repeat itself, a timer does.
"""

import argparse
import json
import math
import pickle
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
    "mobility/both-on-two-interfaces", "mobility/second-interface-ready", "mobility/callee-loses-interface",
    "mobility/restart-answered-late,who=alice,access=home",
    "mobility/quiet-minutes-with-backup", "mobility/direct-udp-blocked-late", "mobility/loss-while-gathering",
)  # fmt: skip

INITIAL = {"signaling.state": "stable", "ice.state": "new", "dtls.state": "new", "connection.state": "new"}
MACHINES = tuple(INITIAL)

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


def run(callsim, path, seed, replacements, *options):
    """Plays one run of a scenario file. Returns its result, and the file with its trace."""
    command = [callsim, "run", str(path), "--seed", str(seed), "--json", "--artifacts", "all", *options]
    for replacement in replacements:
        command += ["--peer", replacement]
    if replacements:
        command += ["--pass-env", "CHROMIUM"]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    runs = [event for line in outcome.stdout.splitlines() if "result" in (event := json.loads(line))]
    if len(runs) != 1:
        raise SystemExit(f"{path} is {len(runs)} runs, and has to be one:\n{outcome.stdout}{outcome.stderr}")
    result = runs[0]["result"]
    if result["verdict"] == "skipped":
        raise Unavailable(result["findings"][0]["actual"])
    traces = [name for name in runs[0].get("artifacts", []) if name.endswith("/trace.jsonl")]
    if not traces:
        raise SystemExit(f"{path} left no trace: {result['findings']}")
    return result, traces[0]


def play(callsim, scenario, replacements):
    name, *cell = scenario.split(",")
    options = ["--cell", ",".join(cell)] if cell else []
    result, trace = run(callsim, f"scenarios/{name}.yaml", 1, replacements, *options)
    with open(trace, encoding="utf-8") as lines:
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
            # Every connection begins there, and nothing has happened yet.
            if not steps and state == INITIAL[kind]:
                continue
            if not steps or steps[-1].state != state:
                steps.append(Step(state, entry, time - fired, time))
    return played


class Comparison:
    """What became of one state machine of one peer in both runs."""

    def __init__(self, scenario, programs, peer, machine, ours, theirs):
        self.scenario, self.programs, self.peer, self.machine = scenario, programs, peer, machine
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
        self.programs, self.states = comparison.programs, comparison.states

    def __str__(self):
        ours, theirs = self._comparison.ours, self._comparison.theirs
        among = ", both theirs" if self.programs == "both" else ""
        return f"{self.peer} {self.machine} ({self._what}{among}): ours {ours}; theirs {theirs}"


def text(steps):
    return " → ".join(f"{step.state} {step.time:.2f}" for step in steps) or "none"


class Failure:
    """What a scenario expects and the real run did not have, though the simulated one did."""

    difference = "expectation"

    def __init__(self, scenario, programs, finding, real):
        self.scenario, self.programs = scenario, programs
        self.title, self.actual = finding["title"], finding["actual"]
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
        return f"`{self.title}`{' (both theirs)' if self.programs == 'both' else ''}: {self.actual}"


def explanation(difference, explanations):
    """The entry that says why. One about order explains those states and no others, one about a time explains no order,
    and one about an expectation that one as it went wrong, for no longer than it says."""
    for entry in explanations:
        if (
            entry["difference"] == difference.difference
            and all(
                fnmatchcase(getattr(difference, key), entry[key])
                for key in ("scenario", "programs", "peer", "machine", "title", "actual") if key in entry
            )
            and all(difference.states[side] == entry[side] for side in ("ours", "theirs") if side in entry)
            and ("seconds late" not in entry or difference.seconds_late <= entry["seconds late"])
        ):  # fmt: skip
            return entry["why"]
    return None


class Pair:
    """A scenario played in virtual and in real time, there with `programs` in the place of one of our peers or both."""

    def __init__(self, scenario, programs, virtual, real, explanations):
        self.scenario, self.programs, self.virtual, self.real = scenario, programs, virtual, real
        # The runs that were played before or after it and not kept, by their numbers.
        self.attempts, self.discarded = 1, {}
        self.comparisons = [
            Comparison(scenario, programs, *key, virtual.until_the_end(*key), real.until_the_end(*key))
            for key in sorted(set(virtual.steps) | set(real.steps))
        ]
        differences = [difference for comparison in self.comparisons for difference in comparison.differences]
        if real.is_in_real_time:
            differences += [Failure(scenario, programs, finding, real) for finding in real.result["findings"]]
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
    def cells(self):
        same = sum(comparison.is_in_order for comparison in self.comparisons)
        worst = max((c for c in self.comparisons if c.worst), key=lambda c: abs(c.worst[0]) / c.worst[1], default=None)
        shown = f"{worst.worst[0] * 1000:+.0f} ms, {worst.peer} {worst.machine} {worst.worst[2]}" if worst else ""
        lag = self.real.result.get("realTime", {}).get("usualLagNanoseconds", 0) / 1e6
        return (
            f"{same} of {len(self.comparisons)} | {shown} | {milliseconds(self.real.setup)} | {self.expectations} "
            f"| {lag:.1f} ms | {self.attempts}"
        )


def milliseconds(value):
    return "never" if value is None else f"{value * 1000:.0f} ms"


def kept(options, name):
    """Where the plays of a row are kept, if anywhere."""
    return options.runs / (re.sub(r"[^a-z0-9=]+", "-", name) + ".pickle") if options.runs else None


def play_real(options, scenario, programs, virtual, explanations):
    """The real run is the one with the fewest differences that nothing explains, of as many as it takes."""
    peers = [options.peer, options.other] if programs == "both" else [options.peer]
    path = kept(options, f"{scenario} {programs}")
    plays = pickle.loads(path.read_bytes()) if path and path.exists() else []
    runs = {}
    for attempt in range(1, ATTEMPTS + 1):
        if attempt > len(plays):
            plays.append(play(options.callsim, scenario, [f"{peer}=external:{options.command}" for peer in peers]))
        real = plays[attempt - 1]
        pair = runs[attempt] = Pair(scenario, programs, virtual, real, explanations)
        if not pair.problems and real.is_in_real_time:
            break
        reasons = pair.problems or [real.result["findings"][0]["actual"]]
        print(f"{scenario}, {programs}, run {attempt}: {'; '.join(reasons)}", flush=True)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(plays))
    best = min(runs.values(), key=lambda pair: pair.rank)
    best.attempts, best.discarded = len(runs), {attempt: pair for attempt, pair in runs.items() if pair is not best}
    return best


def play_all(options, scenario, explanations):
    """A row: with one of their programs, and with two."""
    virtual = play(options.callsim, scenario, [])
    return [play_real(options, scenario, programs, virtual, explanations) for programs in ("one", "both")]


def discarded_orders(pairs):
    """What had another order in runs that were not kept."""
    return [
        f"{pair.scenario}, {pair.programs}, run {attempt}: {difference}{'' if why else ', not explained'}"
        for pair in pairs
        for attempt, discarded in pair.discarded.items()
        for difference, why in discarded.differences
        if difference.difference == "order"
    ]


def report(rows):
    pairs = [pair for row in rows for pair in row]
    agents = " and ".join(sorted({agent for pair in pairs for agent in pair.real.agents})) or "another program"
    lines = [
        "# Differential runs", "",
        "The same scenario file, timeline and seed: with two of our peers in virtual time, and in real time with "
        f"{agents} as one of them and as both, behind the same simulated network. `make differential` plays them and writes "
        "this page; `interop/differential.py mobility/blackhole-8s` compares one and writes nothing.", "",
        "The comparison covers the signalling, ICE, DTLS and connection states of both peers: their order, and the time of "
        f"each entry, counted from the last entry of the timeline. A state may come {BOUND * 1000:.0f} ms or {SHARE:.0%} "
        "of the wait earlier or later, whichever is more; where the order differs, up to there. `completed` counts as `connected`: an agent that "
        "does not learn of the end of the other's candidates, as Chromium never does, stays `connected`. States after the end of a "
        "run are not compared. Every difference beyond that, and every expectation that only the real run did not meet, is listed "
        "below with its reason, from `interop/differential.json`; one without a reason makes the command fail.", "",
        f"A real run that lags or has an unexplained difference is played again, up to {ATTEMPTS} times: effects of the "
        "machine's load or of random losses do not repeat, effects of a timer do. The last column gives the number of plays; "
        "other orders in discarded runs are listed at the end. Set-up is the time from the first `connecting` until both "
        "sides are `connected`. 99 % of the real run's events did not exceed the lag: the machine may add it to any time. "
        "If it exceeds the scenario's limit, the expectations are not judged.", "",
        "The first line of a scenario is with one of their programs, the second with two: there only the network is "
        "ours.", "",
        "| scenario | set-up, ours | their programs | machines in the same order | largest difference in time "
        "| set-up, theirs | expectations in real time | lag | played |",
        "|---|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for one, both in rows:
        lines.append(f"| {one.scenario} | {milliseconds(one.virtual.setup)} | one | {one.cells} |")
        lines.append(f"| | | both | {both.cells} |")
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
    parser.add_argument("--peer", default="alice", help="whom their program plays; --other, when it plays both")
    parser.add_argument("--other", default="bob")
    parser.add_argument("--command", default="interop/peer chromium --microphone")
    parser.add_argument("--write", type=Path, help="a Markdown page to write")
    parser.add_argument("--runs", type=Path, help="a folder to keep what was played in")
    parser.add_argument("scenarios", nargs="*", default=SCENARIOS)
    options = parser.parse_args()
    explanations = json.loads(EXPLANATIONS.read_text(encoding="utf-8"))
    rows = []
    for scenario in options.scenarios:
        try:
            row = play_all(options, scenario, explanations)
        except Unavailable as reason:
            print(f"skipped: {reason}")
            return 7
        rows.append(row)
        for pair in row:
            same = sum(comparison.is_in_order for comparison in pair.comparisons)
            late = sum(not comparison.is_in_time for comparison in pair.comparisons)
            print(f"{scenario}, {pair.programs}: {same} of {len(pair.comparisons)} in the same order, {late} out of "
                  f"time, {len(pair.problems)} not explained, played {pair.attempts} times", flush=True)  # fmt: skip
    pairs = [pair for row in rows for pair in row]
    if options.write:
        options.write.write_text(report(rows), encoding="utf-8")
    for order in discarded_orders(pairs):
        print(f"in a run that was not kept: {order}")
    problems = [f"{pair.scenario}, {pair.programs}: {problem}" for pair in pairs for problem in pair.problems]
    for problem in problems:
        print(f"not explained: {problem}")
    machines = sum(len(pair.comparisons) for pair in pairs)
    print(f"{len(rows)} scenarios, {machines} state machines, {len(problems)} not explained")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
