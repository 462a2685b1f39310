internal import CallCore

/// A Mermaid sequence diagram of a run: signalling between the peers, their state changes, what they hear, what their
/// users do, the entries of the timeline, and faults.
///
/// What a peer sends is drawn by what became of it: as lost where nobody received it, and where it came when that was late.
final class SequenceDiagram: TraceObserver {
  /// More than this nobody reads, and Mermaid refuses.
  static let lineLimit = 200

  private enum Role { case other, sent, received, faulted, state, value, fired, acted, applied, cleared }

  private var roles: [Role?] = []
  private var participants: [String] = []
  private var lines: [String] = []
  private var hidden = 0
  private var messages = DrawnMessages()
  /// Who says what it receives: all that have states. A puppet has none.
  private var receivers: Set<String> = []
  private var end = Instant.zero

  func observe(_ record: TraceRecord, in trace: Trace) {
    end = record.time
    let role = role(of: record.kind, in: trace)
    let subject = trace.subjects[Int(record.subject.id)]
    switch role {
    case .other: return
    case .faulted: return fault(record, in: trace)
    case .received: return receive(record, by: subject, in: trace)
    case .state: receivers.insert(subject)
    case .sent, .value, .fired, .acted, .applied, .cleared: break
    }
    guard lines.count < Self.lineLimit else {
      // What is not drawn itself may still be taken for the next of its type.
      if role == .sent { send(record, from: subject, in: trace, line: nil) }
      hidden += 1
      return
    }
    draw(record, role, of: subject, in: trace)
  }

  private func draw(_ record: TraceRecord, _ role: Role, of subject: String, in trace: Trace) {
    let time = TextStyle.decimal(record.time.seconds, places: 3)
    switch role {
    case .sent:
      send(record, from: subject, in: trace, line: lines.count)
      // Its words are known when the run is over.
      lines.append("")
    case .state:
      let name = trace.declarations[Int(record.kind.id)].name
      let value = trace.datum("value", of: record)?.description ?? ""
      // Initial states say nothing yet.
      guard trace.datum("event", of: record) != .symbol("start") else { return }
      lines.append("Note over \(participant(subject)): \(Self.escape(name)) \(Self.escape(value)) (\(time) s)")
    case .value:
      let name = trace.declarations[Int(record.kind.id)].name
      let value = trace.datum("value", of: record)?.description ?? ""
      lines.append("Note over \(participant(subject)): \(Self.escape(name)) \(Self.escape(value)) (\(time) s)")
    case .acted:
      let words = ["action", "to"].compactMap { trace.datum($0, of: record)?.description }.filter { !$0.isEmpty }
      lines.append("Note over \(participant(subject)): user \(Self.escape(words.joined(separator: " "))) (\(time) s)")
    case .fired:
      let entry = trace.datum("entry", of: record)?.description ?? ""
      // Where nobody gave it a name, what it does says more.
      guard !entry.hasPrefix("#") else { return }
      lines.append("Note over \(everybody(or: subject)): entry \(Self.escape(entry)) (\(time) s)")
    case .applied, .cleared:
      let fault = trace.datum("fault", of: record)?.description ?? ""
      let entry = trace.datum("entry", of: record)?.description ?? ""
      let word = role == .applied ? "fault" : "cleared"
      let over = everybody(or: subject)
      lines.append("Note over \(over): \(word) \(Self.escape(fault)) [\(Self.escape(entry))] (\(time) s)")
    case .other, .received, .faulted: break
    }
  }

  private func send(_ record: TraceRecord, from subject: String, in trace: Trace, line: Int?) {
    let message = DrawnMessage(
      from: subject, to: trace.datum("peer", of: record)?.description ?? subject,
      type: trace.datum("type", of: record)?.description ?? "", sent: record.time,
      isUnsent: trace.datum("lost", of: record) == .flag(true), line: line)
    if line != nil { _ = (participant(message.from), participant(message.to)) }
    messages.sent(message)
  }

  private func fault(_ record: TraceRecord, in trace: Trace) {
    let words = ["effect", "type", "from"].map { trace.datum($0, of: record)?.description ?? "" }
    messages.faulted(words[0], type: words[1], user: words[2], at: record.time)
  }

  private func receive(_ record: TraceRecord, by subject: String, in trace: Trace) {
    let words = ["type", "peer"].map { trace.datum($0, of: record)?.description ?? "" }
    guard let index = messages.received(type: words[0], by: subject, from: words[1], at: record.time),
      messages.all[index].line != nil, messages.all[index].comesApart
    else { return }
    guard lines.count < Self.lineLimit else {
      hidden += 1
      return
    }
    messages.drawArrival(of: index, at: lines.count)
    lines.append("")
  }

  /// The lines, with those of messages.
  private var finishedLines: [String] {
    var lines = lines
    for message in messages.all {
      guard let line = message.line else { continue }
      let names = (participant(message.from), participant(message.to))
      let isLost = message.isLost(by: receivers.contains(message.to) ? end : nil)
      lines[line] = message.sending(isLost: isLost, names)
      for arrival in message.arrivals { lines[arrival.line] = message.arrival(arrival.receipt, names) }
    }
    return lines
  }

  var text: String {
    let lines = finishedLines
    var text = "sequenceDiagram\n"
    for (index, name) in participants.enumerated() { text += "  participant P\(index) as \(Self.escape(name))\n" }
    for line in lines { text += "  \(line)\n" }
    if hidden > 0, !participants.isEmpty { text += "  Note over P0: and \(hidden) more\n" }
    return text
  }

  /// Everybody who has been seen so far.
  private func everybody(or subject: String) -> String {
    let first = participants.isEmpty ? participant(subject) : "P0"
    return participants.count > 1 ? "\(first),P\(participants.count - 1)" : first
  }

  private func participant(_ name: String) -> String {
    if let index = participants.firstIndex(of: name) { return "P\(index)" }
    participants.append(name)
    return "P\(participants.count - 1)"
  }

  private func role(of kind: TraceKind, in trace: Trace) -> Role {
    while roles.count <= Int(kind.id) { roles.append(nil) }
    if let known = roles[Int(kind.id)] { return known }
    let name = trace.declarations[Int(kind.id)].name
    let role: Role =
      switch name {
      case "signal.sent": .sent
      case "signal.received": .received
      case "signal.faulted": .faulted
      case "audible": .value
      case "timeline.fired": .fired
      case "user.action": .acted
      case "fault.applied": .applied
      case "fault.cleared": .cleared
      case "link.state", "interface.state", "host.state", "ice-gathering.state", "signaling.state": .other
      default: name.hasSuffix(".state") ? .state : .other
      }
    roles[Int(kind.id)] = role
    return role
  }

  /// Mermaid ends a statement at `;` and begins an entity with `#`.
  static func escape(_ text: String) -> String {
    var out = ""
    for character in TextStyle.printable(text) {
      switch character {
      case "#": out += "#35;"
      case ";": out += "#59;"
      case "<": out += "#lt;"
      case ">": out += "#gt;"
      default: out.append(character)
      }
    }
    return out
  }
}
