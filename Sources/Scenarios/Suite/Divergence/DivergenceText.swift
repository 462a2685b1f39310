internal import CallCore
package import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun
internal import SimNet

/// The text about the first difference between two runs.
package struct DivergenceText {
  private let pair: RunPair
  private let outcome: RunPair.Outcome
  private let style: TextStyle

  package init(_ pair: RunPair, _ outcome: RunPair.Outcome, style: TextStyle = .plain) {
    self.pair = pair
    self.outcome = outcome
    self.style = style
  }

  /// The text, of several lines.
  package var text: String {
    guard let divergence = outcome.divergence else { return equality }
    var out = style.paint("DIFFERENT", .failure) + " " + TextStyle.printable(divergence.summary) + "\n"
    for (label, side) in zip(labels, divergence.sides) {
      out += "  \(label)  \(side.event.map { line($0) } ?? "no more events")\n"
    }
    if !divergence.common.isEmpty {
      out += heading("before, in both")
      for event in divergence.common { out += "  \(line(event))\n" }
    }
    let (first, second) = (divergence.sides[0], divergence.sides[1])
    if first.causes == second.causes, first.event != nil, second.event != nil {
      out += heading("cause, in both") + causes(of: first)
    } else {
      for (label, side) in zip(labels, divergence.sides) where side.event != nil {
        out += heading("cause, \(label.trimmed)") + causes(of: side)
      }
    }
    return out + heading("chance") + chance(divergence).map { "  \($0)\n" }.joined()
  }

  private var equality: String {
    let result = outcome.results[0]
    var out = style.paint("EQUAL", .success)
    out += " \(result.eventCount) events, trace \(RunResult.hexadecimal(result.traceHash))\n"
    let verdicts = outcome.results.map(\.verdict.rawValue)
    if verdicts[0] != verdicts[1] {
      out +=
        "  the verdicts differ: \(verdicts[0]) and \(verdicts[1]); the same events are judged by other expectations\n"
    }
    return out
  }

  private func heading(_ title: String) -> String { "\n" + style.paint(title, .label) + "\n" }

  /// The names of the runs, of one width; numbers tell apart two runs of one name.
  private var labels: [String] {
    var names = pair.members.map { TextStyle.printable($0.name) }
    if names[0] == names[1] { names = ["first", "second"] }
    let width = names.map(\.count).max() ?? 0
    return names.map { $0 + String(repeating: " ", count: width - $0.count) }
  }

  private func line(_ event: TraceDivergence.Event) -> String {
    let time = TextStyle.decimal(event.time.seconds, places: 6) + " s"
    return ([time, event.subject, event.kind] + event.fields).map(TextStyle.printable).joined(separator: "  ")
  }

  // MARK: Causes

  private func causes(of side: TraceDivergence.Side) -> String {
    var lines = side.causes.map { line($0) }
    if side.isCut { lines.append("…") }
    guard let first = side.causes.last, !side.isCut else {
      if side.causes.isEmpty { lines = ["none is recorded: a timer from the start of the run, or the start itself"] }
      return lines.map { "  \($0)\n" }.joined()
    }
    if first.kind == RunEvents.fired.name {
      let entry = first.text("entry") ?? ""
      lines.append("the timeline entry '\(TextStyle.printable(entry))'")
    } else {
      lines.append("its cause is not recorded: a timer from the start of the run, or the start itself")
    }
    return lines.map { "  \($0)\n" }.joined()
  }

  // MARK: Chance

  /// Returns what can be said about random draws, which the trace does not hold.
  private func chance(_ divergence: TraceDivergence) -> [String] {
    var lines: [String] = []
    for link in divergence.sides.compactMap({ $0.event.flatMap(Self.lossyLink) }).inOrderOfAppearance {
      lines.append(
        "the loss model of \(TextStyle.printable(link)) dropped a packet; if it draws, its streams are "
          + "\(TextStyle.printable(link))/loss and \(TextStyle.printable(link))/channel")
    }
    if let stream = Self.ports(divergence.sides.map(\.event)) {
      lines.append("the ports are drawn from the stream \(TextStyle.printable(stream))")
    }
    let seeds = pair.members.map(\.seed)
    if seeds[0] == seeds[1] {
      lines.append(
        "the seed is \(seeds[0]) in both: a stream gives both runs the same draws as long as both draw equally often")
    } else {
      lines.append("the seeds are \(seeds[0]) and \(seeds[1]): every stream of chance has other draws")
    }
    lines.append("draws are not part of the trace: whether one of them made the difference cannot be read from it")
    return lines
  }

  /// Returns the stream of the ports, if two events differ in nothing but the port that a host or a NAT has chosen.
  private static func ports(_ events: [TraceDivergence.Event?]) -> String? {
    guard let one = events[0], let other = events[1], one.kind == other.kind, one.subject == other.subject,
      let field = [NetworkEvents.packetSent.name: "from", NetworkEvents.mappingCreated.name: "external"][one.kind],
      let chosen = one.text(field), let another = other.text(field), chosen != another,
      chosen.withoutPort == another.withoutPort, zip(one.fields, other.fields).count(where: !=) == 1
    else { return nil }
    guard one.kind == NetworkEvents.mappingCreated.name else { return "host/\(one.subject)/ports" }
    return "nat/\(one.subject.drop { $0 != "/" }.dropFirst())/ports"
  }

  /// Returns the direction of a link whose loss model dropped a packet in this event.
  private static func lossyLink(_ event: TraceDivergence.Event) -> String? {
    guard event.kind == NetworkEvents.packetDropped.name,
      event.text("reason") == DropReason.loss.rawValue
    else { return nil }
    return event.subject
  }
}

extension String {
  fileprivate var trimmed: String { String(reversed().drop { $0 == " " }.reversed()) }

  /// The address of an endpoint.
  fileprivate var withoutPort: Substring { self[..<(lastIndex(of: ":") ?? endIndex)] }
}
