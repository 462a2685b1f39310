"""What is printed: a line for each case as it ends, then the table, the reasons, and the count."""

import json
import os
import sys
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field

from .case import Case

PASS, SKIP, FAIL, NONE = "pass", "skip", "FAIL", "–"
# Of a failure that another attempt follows.
_AGAIN = "miss"
_COLOURS = {PASS: "32", SKIP: "33", FAIL: "31;1", NONE: "2", _AGAIN: "33"}


@dataclass
class Result:
    case: Case
    offers: str
    peer: str
    folder: object
    outcome: str = ""
    reason: str = ""
    expected: str = ""
    happened: str = ""
    seconds: float = 0.0
    attempt: int = 1
    # Whether no other attempt could excuse the failure.
    is_conclusive: bool = False
    deserves_another: bool = False
    # Why the machine, and not a program, may be to blame.
    starved: str | None = None
    measured: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)
    trails: dict = field(default_factory=dict)
    agents: dict = field(default_factory=dict)

    @property
    def row(self):
        return next(row for row, offers in self.case.rows() if offers == self.offers)

    @property
    def is_failure(self):
        return self.outcome == FAIL

    def passed(self):
        self.outcome = PASS

    def skipped(self, reason):
        self.outcome, self.reason = SKIP, reason

    def not_applicable(self, reason):
        self.outcome, self.reason = NONE, reason

    def failed(self, expected, happened, is_conclusive=False):
        self.outcome, self.expected, self.happened, self.is_conclusive = FAIL, expected, happened, is_conclusive

    def take(self, call):
        """Remembers what the call measured, and what both sides went through."""
        self.measured, self.notes = call.measured, call.notes
        for peer in call.peers:
            self.trails[peer.role] = list(peer.trail)
            self.agents[peer.role] = peer.agent

    @property
    def cell(self):
        if self.outcome != PASS or "connected" not in self.measured:
            return self.outcome
        return f"{self.outcome} {self.measured['connected'] * 1000:.0f} ms"

    def as_json(self):
        return {
            "case": self.case.name, "offers": self.offers, "peer": self.peer, "outcome": self.outcome,
            "attempt": self.attempt, "reason": self.reason or None, "expected": self.expected or None, "happened": self.happened or None, "starved": self.starved,
            "seconds": round(self.seconds, 2), "agents": self.agents, "notes": self.notes,
            "measured": {
                name: round(value, 4) if isinstance(value, float) else value for name, value in self.measured.items()
            },
        }  # fmt: skip


class Style:
    def __init__(self):
        self._on = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and not os.environ.get("CI")

    def __call__(self, text, outcome):
        return f"\033[{_COLOURS[outcome]}m{text}\033[0m" if self._on else text


class Progress:
    def __init__(self):
        self._style = Style()

    def show(self, result):
        if result.outcome == NONE:
            return
        outcome = _AGAIN if result.deserves_another else result.outcome
        attempt = f", attempt {result.attempt}" if result.attempt > 1 else ""
        figures = ", ".join(f"{name} {_figure(value)}" for name, value in result.measured.items())
        print(f"{self._style(outcome, outcome)}  {result.row}, {result.peer}"
              f"{attempt}{': ' + figures if figures else ''} ({result.seconds:.1f} s)"
              f"{f', while {result.starved}' if result.is_failure and result.starved else ''}"
              f"{', to be tried again' if result.deserves_another else ''}", flush=True)  # fmt: skip
        if result.is_failure:
            print(f"      expected {result.expected}; {result.happened}", flush=True)


def _figure(value):
    if isinstance(value, float):
        return f"{value * 1000:.0f} ms" if value < 10 else f"{value:.1f} s"
    return str(value)


def list_cases(cases):
    for case in cases:
        against = f"every peer but {' and '.join(case.without)}" if case.without else "every peer"
        print(f"{case.name}\n    {case.about}\n    against {against}; "
              f"{' and '.join(case.offers)} offer{'s' if len(case.offers) == 1 else ''}"
              f"{'; takes minutes' if case.long else ''}")  # fmt: skip
    return 0


def finish(options, results, peers, seconds):
    style = Style()
    print()
    _print_table(style, results, peers)
    _print_reasons(results)
    for result in results:
        if result.is_failure:
            _print_failure(style, result)
    counts = {outcome: sum(result.outcome == outcome for result in results) for outcome in (PASS, SKIP, FAIL)}
    if options.json:
        options.json.write_text(json.dumps([result.as_json() for result in results], indent=1) + "\n")
    if options.junit:
        _write_junit(options.junit, results, seconds)
    if options.counts:
        options.counts.write_text(f"{counts[PASS]} {counts[FAIL]} {counts[SKIP]}\n")
    # Who was not opened has said no more than its name.
    agents = sorted({agent for result in results for agent in result.agents.values()} - {*peers, options.ours})
    print(f"\n{'; '.join(agents)}" if agents else "")
    again = sum(result.outcome == PASS and result.attempt > 1 for result in results)
    line = f"{counts[PASS]} passed{f' ({again} of them not at the first attempt)' if again else ''}, {counts[FAIL]} failed"
    if counts[SKIP]:
        line += f", {counts[SKIP]} skipped"
    print(f"{style(line, FAIL if counts[FAIL] else PASS)} in {seconds:.0f} s")
    return 1 if counts[FAIL] else 0 if counts[PASS] else 7


def _print_table(style, results, peers):
    rows = {}
    order = {}
    for result in results:
        rows.setdefault(result.row, {})[result.peer] = result
    from .case import all_cases

    for case in all_cases():
        for row, _ in case.rows():
            order.setdefault(row, len(order))
    width = max(len(row) for row in rows)
    cells = [max(len(peer), *(len(row[peer].cell) for row in rows.values() if peer in row), 4) for peer in peers]
    print("  ".join(["case".ljust(width), *(peer.ljust(cell) for peer, cell in zip(peers, cells))]))
    for row in sorted(rows, key=order.get):
        line = [row.ljust(width)]
        for peer, cell in zip(peers, cells):
            result = rows[row].get(peer)
            line.append(style(result.cell.ljust(cell), result.outcome) if result else " " * cell)
        print("  ".join(line).rstrip())


def _print_reasons(results):
    for outcome, title in ((SKIP, "skipped:"), (NONE, f"not about that peer ({NONE}):")):
        reasons = {}
        for result in results:
            if result.outcome == outcome:
                reasons.setdefault(result.reason, []).append(f"{result.row}, {result.peer}")
        if reasons:
            print(f"\n{title}")
        for reason, names in reasons.items():
            shown = "; ".join(names[:4]) + (f"; and {len(names) - 4} more" if len(names) > 4 else "")
            print(f"  {reason}\n      {shown}")


def _print_failure(style, result):
    print(f"\n{style('FAIL', FAIL)}  {result.row}, {result.peer}")
    print(f"  expected   {result.expected}\n  happened   {result.happened}")
    if result.starved:
        print(f"  meanwhile  {result.starved}")
    for note in result.notes:
        print(f"  also       {note}")
    for role, trail in result.trails.items():
        print(f"  {role} ({result.agents[role]}):")
        for event in trail:
            if event.name != "icecandidate":
                print(f"    {event}")
    print(f"  logs, recordings and captures are in {result.folder}")


def _write_junit(path, results, seconds):
    tested = [result for result in results if result.outcome != NONE]
    suite = xml.Element("testsuite", name="interop", tests=str(len(tested)), time=f"{seconds:.1f}",
                        failures=str(sum(result.is_failure for result in tested)),
                        skipped=str(sum(result.outcome == SKIP for result in tested)))  # fmt: skip
    for result in tested:
        test = xml.SubElement(suite, "testcase", classname=f"interop.{result.peer}", name=result.row,
                              time=f"{result.seconds:.2f}")  # fmt: skip
        if result.outcome == SKIP:
            xml.SubElement(test, "skipped", message=result.reason)
        elif result.is_failure:
            failure = xml.SubElement(test, "failure", message=f"expected {result.expected}; {result.happened}")
            failure.text = "\n".join(
                f"{role} {event}" for role, trail in result.trails.items() for event in trail
            )
    xml.ElementTree(suite).write(path, encoding="unicode", xml_declaration=True)
