import CallCore

/// Advice about links: impairments without an effect.
enum LinkChecks {
  /// Reports values of a link that both directions override.
  static func check(_ draft: LinkDraft, of name: String, at span: SourceSpan, _ reading: inout Reading) {
    let (sent, received) = (Set(draft.transmit.parts.map(\.key)), Set(draft.receive.parts.map(\.key)))
    for (key, _) in draft.both.parts where sent.contains(key) && received.contains(key) {
      let message = "'\(key)' of the link '\(name)' holds for neither direction: 'tx' and 'rx' both have their own"
      reading.report(.ineffective, message, at: span)
    }
  }

  static func check(_ scenario: Scenario, _ reading: inout Reading) {
    // With errors elsewhere, a key may only appear to have no effect.
    guard !reading.diagnostics.contains(where: { $0.code.severity == .error }) else { return }
    for link in scenario.topology.links {
      let changes = changes(of: link.name, in: scenario)
      for side in [link.transmit, link.receive] {
        let problems = problems(of: side, of: link.name, among: changes.map(\.impairments) + [side])
        guard !problems.isEmpty else { continue }
        for problem in problems { reading.report(.ineffective, problem, at: link.span) }
        break
      }
      for (index, change) in changes.enumerated() {
        let others = changes[..<index].map(\.impairments) + changes[(index + 1)...].map(\.impairments)
        let all = others + [change.impairments, link.transmit, link.receive]
        for problem in problems(of: change.impairments, of: link.name, among: all) {
          reading.report(.ineffective, problem, at: change.span)
        }
      }
    }
  }

  /// Returns the impairments that `link.set` entries set on the link.
  private static func changes(
    of link: String, in scenario: Scenario
  ) -> [(impairments: Topology.Impairments, span: SourceSpan)] {
    scenario.timeline.compactMap { entry in
      guard let fault = entry.fault, fault.arguments.text("link") == link else { return nil }
      return fault.impairments.map { ($0, entry.span) }
    }
  }

  /// Returns the impairments of one direction without an effect, as messages.
  ///
  /// - Parameter all: the impairments of the link at any time.
  private static func problems(
    of side: Topology.Impairments, of link: String, among all: [Topology.Impairments]
  ) -> [String] {
    var problems: [String] = []
    if side.reorder ?? 0 > 0, !all.contains(where: { $0.delay ?? .zero > .zero || $0.jitter != nil }) {
      problems.append("'reorder' lets packets overtake the delay of the link '\(link)', which has none")
    }
    if side.reorder == 1 {
      problems.append(
        "'reorder' of 100% lets every packet of the link '\(link)' skip its delay, so none overtakes another")
    }
    if side.queue != nil, !all.contains(where: { $0.rate != nil }) {
      problems.append("nothing waits in the queue of the link '\(link)', because it has no 'rate'")
    }
    return problems
  }
}
