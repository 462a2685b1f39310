package import CallCore

/// How an app writes what a scenario may assert. It holds the app to its vocabulary.
///
/// Apps know users, and scenarios name peers: a user whom an app names is written as the peer that has this user id. An
/// id that no peer has, or more than one, is written as it is.
public final class PeerTrace {
  private let trace: Trace
  private let subject: TraceSubject
  private let vocabulary: Vocabulary
  /// The only peer of each user id.
  private let peers: [String: String]
  private var machines: [(declaration: StateMachine, kind: TraceKind, state: String)] = []
  private let illegalTransition: TraceKind
  private let code: TraceKind
  private let ended: TraceKind
  private let sent: TraceKind
  private let received: TraceKind

  /// - Parameter userIDs: the user ids of peers, by the peers' names.
  package init(trace: Trace, peer: String, vocabulary: Vocabulary, userIDs: [String: String] = [:]) {
    self.trace = trace
    self.vocabulary = vocabulary
    peers = Dictionary(grouping: userIDs.keys) { userIDs[$0] ?? $0 }.compactMapValues { $0.count == 1 ? $0[0] : nil }
    subject = trace.subject(peer)
    illegalTransition = trace.declare(
      "illegal-transition", TraceField("machine", .symbol), TraceField("from", .symbol), TraceField("to", .symbol),
      TraceField("event", .symbol))
    code = trace.declare("code", TraceField("value", .symbol))
    ended = trace.declare("call.ended", TraceField("code", .symbol))
    sent = trace.declare(
      "signal.sent", TraceField("type", .symbol), TraceField("peer", .symbol), TraceField("lost", .flag))
    received = trace.declare("signal.received", TraceField("type", .symbol), TraceField("peer", .symbol))
    for machine in vocabulary.machines {
      let kind = trace.declare(
        machine.name, TraceField("value", .symbol), TraceField("from", .symbol), TraceField("event", .symbol))
      guard let initial = machine.states.first else { continue }
      machines.append((machine, kind, initial.name))
      let name = trace.value(initial.name)
      trace.write(kind, subject, name, name, trace.value("start"))
    }
  }

  private func peer(ofUser id: String) -> String { peers[id] ?? id }

  /// The present state of a declared machine.
  public func state(of machine: String) -> String? {
    machines.first { $0.declaration.name == machine }?.state
  }

  /// Moves a machine, when the vocabulary allows it; otherwise writes `illegal-transition` and moves nothing.
  ///
  /// - Returns: whether the machine moved.
  @discardableResult
  public func enter(_ machine: String, _ state: String, on event: String) -> Bool {
    guard let index = machines.firstIndex(where: { $0.declaration.name == machine }) else {
      preconditionFailure("'\(machine)' is not declared in the vocabulary of \(vocabulary.profile)")
    }
    let from = machines[index].state
    guard machines[index].declaration.allows(from: from, to: state) else {
      trace.write(
        illegalTransition, subject, trace.value(machine), trace.value(from), trace.value(state), trace.value(event))
      return false
    }
    machines[index].state = state
    trace.write(machines[index].kind, subject, trace.value(state), trace.value(from), trace.value(event))
    return true
  }

  /// Raises a declared error code.
  public func raise(_ name: String) {
    precondition(vocabulary.errorCodes.contains { $0.name == name }, "error code '\(name)' is not declared")
    trace.write(code, subject, trace.value(name))
  }

  /// Says how the call ended, by a declared end code.
  public func end(_ name: String) {
    precondition(vocabulary.endCodes.contains { $0.name == name }, "end code '\(name)' is not declared")
    trace.write(ended, subject, trace.value(name))
  }

  /// Says which call the app is in from now on: an identifier that both sides of the call have for it, and the id of the
  /// user it is with.
  ///
  /// Say it when a call is placed, when it begins to ring, and when another takes its place; before the user is asked,
  /// so that what he answers is known to be an answer to this call.
  public func begin(call id: String, with user: String) {
    set("call.id", id)
    set("call.peer", peer(ofUser: user))
  }

  /// Writes an event with one word of detail, such as `message.rejected` with the reason. It is for readers of the trace:
  /// a scenario cannot name it.
  public func event(_ name: String, _ field: String, _ detail: String) {
    trace.write(trace.declare(name, TraceField(field, .symbol)), subject, trace.value(detail))
  }

  /// Sets a declared value, such as `call.reason`.
  public func set(_ name: String, _ value: String) {
    check(name) { $0.admits(value) }
    trace.write(trace.declare(name, TraceField("value", .symbol)), subject, trace.value(value))
  }

  public func set(_ name: String, _ value: Bool) {
    check(name) { $0 == .flag }
    trace.write(trace.declare(name, TraceField("value", .flag)), subject, .flag(value))
  }

  public func set(_ name: String, _ value: Int) {
    check(name) { $0 == .count }
    trace.write(trace.declare(name, TraceField("value", .integer)), subject, .integer(value))
  }

  private func check(_ name: String, _ fits: (ValueType) -> Bool) {
    let declaration = vocabulary.values.first { $0.name == name } ?? CommonVocabulary.value(name)
    guard let declaration else { preconditionFailure("value '\(name)' is not declared") }
    precondition(fits(declaration.type), "value '\(name)' is declared as \(declaration.type)")
  }

  /// Writes that a signalling message to a user, or to the server, left; `isLost` when there was no connection to carry
  /// it. Its type is one that the vocabulary declares for clients to send.
  public func signalSent(type: String, to user: String, isLost: Bool) {
    precondition(
      vocabulary.messages.contains { $0.name == type && $0.direction != .serverToClient },
      "message '\(type)' is not declared as one that clients send")
    trace.write(sent, subject, trace.value(type), trace.value(peer(ofUser: user)), .flag(isLost))
  }

  /// Writes that a signalling message of a user, or of the server, came. What others send may have any type.
  public func signalReceived(type: String, from user: String) {
    trace.write(received, subject, trace.value(type), trace.value(peer(ofUser: user)))
  }
}
