#!/usr/bin/env python3
"""Plays scenarios twice, once with our stack in virtual time and once with a browser as one of the peers in real time,
and compares which states the peers went through, in which order and when.

    interop/differential.py [--callsim PATH] [--peer alice] [--command 'interop/peer chromium --microphone']
                            [--write docs/differential.md] [SCENARIO[,variable=value]...]

It ends with 0 when every difference of order is explained in differential.json, which says why for each, and every
state came within its bound; with 1 when not; with 7 when this machine cannot run real programs.
"""

import argparse
import json
import subprocess
import sys
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
# long waits may differ by a share of themselves, because stacks draw their timers at random.
BOUND, SHARE = 0.3, 0.2

EXPLANATIONS = Path(__file__).with_name("differential.json")


class Unavailable(Exception):
    pass


def play(callsim, scenario, replacement):
    """Runs one scenario: its result, and the events of its trace."""
    name, *cell = scenario.split(",")
    command = [callsim, "run", f"scenarios/{name}.yaml", "--seed", "1", "--json", "--artifacts", "all"]
    if cell:
        command += ["--cell", ",".join(cell)]
    if replacement:
        command += ["--peer", replacement]
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
        return result, states(lines)


def states(lines):
    """By peer and machine: the states entered, each with the entry of the timeline before it and the time since."""
    found, entry, fired = {}, "start", 0.0
    for line in lines:
        # Packets are most of a trace, and are not looked at.
        if '"kind":"packet.' in line or '"kind":"media.' in line:
            continue
        event = json.loads(line)
        if event["kind"] == "timeline.fired":
            entry, fired = event["fields"]["entry"], event["t"] / 1e9
        elif event["kind"] in MACHINES:
            fields = event["fields"]
            steps = found.setdefault((event["subject"], event["kind"]), [])
            steps.append((fields["value"], entry, event["t"] / 1e9 - fired, event["t"] / 1e9))
    return found


def until_the_end(steps, end):
    """What happens after the last entry of the timeline is tidying up."""
    return [step for step in steps if step[0] != "closed" and step[3] <= end]


class Comparison:
    def __init__(self, scenario, peer, machine, ours, theirs):
        self.scenario, self.peer, self.machine = scenario, peer, machine
        self.ours, self.theirs = ours, theirs
        self.same_order = [step[0] for step in ours] == [step[0] for step in theirs]
        self.offsets = []
        if self.same_order:
            for one, other in zip(ours, theirs):
                same_entry = one[1] == other[1]
                # Across an entry of the timeline the times since it say nothing; then those since the start do.
                expected, measured = (one[2], other[2]) if same_entry else (one[3], other[3])
                self.offsets.append((measured - expected, max(BOUND, SHARE * expected), one[0]))

    @property
    def worst(self):
        return max(self.offsets, key=lambda offset: abs(offset[0]) / offset[1], default=None)

    @property
    def is_in_time(self):
        return all(abs(offset) <= bound for offset, bound, _ in self.offsets)

    @property
    def key(self):
        return f"{self.scenario} {self.peer} {self.machine}"

    def text(self, steps):
        return " → ".join(f"{value} {time:.2f}" for value, _, _, time in steps) or "none"


def compare(scenario, ours, theirs, end):
    comparisons = []
    for peer, machine in sorted(set(ours) | set(theirs)):
        steps = [until_the_end(found.get((peer, machine), []), limit) for found, limit in zip((ours, theirs), end)]
        comparisons.append(Comparison(scenario, peer, machine, *steps))
    return comparisons


def explanation(comparison, explanations):
    for entry in explanations:
        if (
            entry.get("scenario", comparison.scenario) == comparison.scenario
            and entry.get("peer", comparison.peer) == comparison.peer
            and entry["machine"] == comparison.machine
        ):
            return entry["why"]
    return None


def report(comparisons, results, agent, explanations):
    lines = [
        "# Differential runs", "",
        "The same scenario file, timeline and seed, once with two of our peers in virtual time and once in real time "
        f"with {agent} as one of them, behind the same simulated networks. `make differential` makes this page.", "",
        f"Compared is the order of states and their times, counted from the last entry of the timeline. A state may come "
        f"{BOUND * 1000:.0f} ms or {SHARE:.0%} of the wait earlier or later, whichever is more. Times in the tables are "
        "seconds since the start.", "",
        "| scenario | state machines in the same order | largest difference | verdict of the run in real time | lag, 99 % |",
        "|---|---|---|---|---|",
    ]  # fmt: skip
    for scenario, result in results:
        mine = [comparison for comparison in comparisons if comparison.scenario == scenario]
        same = sum(comparison.same_order for comparison in mine)
        worst = max((c for c in mine if c.worst), key=lambda c: abs(c.worst[0]) / c.worst[1], default=None)
        shown = f"{worst.worst[0] * 1000:+.0f} ms ({worst.peer} {worst.machine} {worst.worst[2]})" if worst else ""
        lag = result["realTime"]["usualLagNanoseconds"] / 1e6
        lines.append(f"| {scenario} | {same} of {len(mine)} | {shown} | {result['verdict']} | {lag:.1f} ms |")
    lines += ["", "## What differs", ""]
    problems = []
    differing = [c for c in comparisons if not c.same_order or not c.is_in_time]
    for comparison in differing:
        why = explanation(comparison, explanations)
        what = "order" if not comparison.same_order else f"time of {comparison.worst[2]}"
        lines += [
            f"- **{comparison.scenario}, {comparison.peer} {comparison.machine}** ({what}): "
            f"ours {comparison.text(comparison.ours)}; theirs {comparison.text(comparison.theirs)}. "
            f"{why or 'Not explained.'}"
        ]
        if why is None:
            problems.append(f"{comparison.key}: {what}: ours {comparison.text(comparison.ours)}; "
                            f"theirs {comparison.text(comparison.theirs)}")  # fmt: skip
    if not differing:
        lines.append("Nothing.")
    return "\n".join(lines) + "\n", problems


def end_of(callsim_states, result):
    """The time at which the run in question was over."""
    return result["virtualNanoseconds"] / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--callsim", default=".build-release/release/callsim")
    parser.add_argument("--peer", default="alice")
    parser.add_argument("--command", default="interop/peer chromium --microphone")
    parser.add_argument("--agent", default="Chromium", help="what the page calls the program")
    parser.add_argument("--write", type=Path, help="a Markdown page to write")
    parser.add_argument("scenarios", nargs="*", default=SCENARIOS)
    options = parser.parse_args()
    explanations = json.loads(EXPLANATIONS.read_text(encoding="utf-8"))
    comparisons, results, problems = [], [], []
    for scenario in options.scenarios:
        replacement = f"{options.peer}=external:{options.command}"
        try:
            virtual, ours = play(options.callsim, scenario, None)
            real, theirs = play(options.callsim, scenario, replacement)
        except Unavailable as reason:
            print(f"skipped: {reason}")
            return 7
        found = compare(scenario, ours, theirs, (end_of(ours, virtual), end_of(theirs, real)))
        comparisons += found
        results.append((scenario, real))
        same = sum(comparison.same_order for comparison in found)
        late = sum(not comparison.is_in_time for comparison in found)
        print(f"{scenario}: {same} of {len(found)} in the same order, {late} out of time; {real['verdict']}", flush=True)
        if real["verdict"] == "inconclusive":
            problems.append(f"{scenario}: {real['findings'][0]['actual']}")
    page, unexplained = report(comparisons, results, options.agent, explanations)
    problems += unexplained
    if options.write:
        options.write.write_text(page, encoding="utf-8")
    for problem in problems:
        print(f"not explained: {problem}")
    print(f"{len(results)} scenarios, {len(comparisons)} state machines, {len(problems)} not explained")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
