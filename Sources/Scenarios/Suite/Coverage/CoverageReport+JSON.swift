package import Formats
internal import ScenarioJudge
internal import Vocabulary

/// The JSON form of a coverage report, for programs.
extension CoverageReport {
  package var json: JSON {
    [
      "runs": .of(runs), "notRun": .of(notRun),
      "notPassed": .array(notPassed.map { ["id": .string($0.id), "verdict": .string($0.verdict)] }),
      "runsWithoutCoverage": .of(runsWithoutCoverage), "peersWithoutCoverage": .of(peersWithoutCoverage),
      "profiles": .array(profiles.map(\.json)),
    ]
  }
}

extension CoverageReport.Profile {
  fileprivate var json: JSON {
    [
      "name": .string(name), "machines": .array((machines + connections).map(\.json)),
      "neverTaken": .array(missing.map(\.json)), "endCodes": .array(endCodes.map(\.json)),
      "errorCodes": .array(errorCodes.map(\.json)), "messages": .array(messages.map(\.json)),
      "jointStates": .of(jointStates),
    ]
  }
}

extension CoverageReport.Missing {
  fileprivate var json: JSON {
    [
      "machine": .string(machine), "from": .string(transition.from), "to": .string(transition.to),
      "event": .string(transition.event),
      "path": path.map { path in
        .array(
          path.map { ["from": .string($0.from), "to": .string($0.to), "event": .string($0.event)] })
      } ?? .null,
    ]
  }
}

extension CoverageReport.Item {
  fileprivate var json: JSON { .object([.init("name", .string(name))] + seen.members) }
}

extension CoverageGrid {
  fileprivate var json: JSON {
    [
      "name": .string(machine.name), "states": .strings(machine.states.map(\.name)), "declared": .bool(isDeclared),
      "neverEntered": .strings(unentered),
      "cells": .array(
        rows.flatMap { row in
          zip(machine.states, row.cells).filter { $1.mark != .blank }.map { state, cell in
            .object(
              [
                .init("state", .string(state.name)), .init(isDeclared ? "event" : "entered", .string(row.name)),
                .init("kind", .string(row.kind.isEmpty ? RunCoverage.EventKind.cause.rawValue : row.kind)),
                .init("mark", .string(cell.mark.rawValue)),
              ] + cell.seen.members + [.init("stayed", .of(cell.stayed.count))])
          }
        }),
      "transitions": .array(
        declared.map { item in
          .object(
            [
              .init("from", .string(item.transition.from)), .init("to", .string(item.transition.to)),
              .init("event", .string(item.transition.event)),
            ] + item.seen.members + [
              .init("words", .object(item.words.map { .init($0.word, .of($0.count)) }))
            ])
        }),
      "undeclared": .array(
        undeclared.map { transition, seen in
          .object(
            [
              .init("from", .string(transition.from)), .init("to", .string(transition.to)),
              .init("event", .string(transition.event)),
            ] + seen.members)
        }),
    ]
  }
}

extension SuiteCoverage.Seen {
  fileprivate var members: [JSON.Member] {
    [.init("count", .integer(Int64(count))), .init("first", count > 0 ? .string(first) : .null)]
  }
}

extension JSON {
  fileprivate static func of(_ number: Int) -> JSON { .integer(Int64(number)) }
}
