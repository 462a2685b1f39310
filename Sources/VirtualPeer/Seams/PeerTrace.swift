public import CallCore
package import Vocabulary

/// Writes an app's events and values for scenarios, and checks them against the vocabulary.
///
/// Apps name users, scenarios name peers: a user id is written as the name of the peer that has it. An id that no peer
/// has, or several, is written unchanged.
public final class PeerTrace {
  private let trace: Trace
  private let subject: TraceSubject
  private let vocabulary: ProfileVocabulary
  private let peers: PeerNames
  private let peer: String
  /// Nil for what is about the peer itself.
  private let whole: PeerTrace?
  private var machines: [(declaration: StateMachine, event: TraceEvent<String, String, String>, state: String)] = []
  private var remotes: [String: PeerTrace] = [:]
  /// Whether a call was written that goes on beside the one that the app shows.
  private var hasBeside = false

  package convenience init(
    trace: Trace, peer: String, vocabulary: ProfileVocabulary, peers: PeerNames = PeerNames()
  ) {
    self.init(trace: trace, peer: peer, subject: peer, vocabulary: vocabulary, peers: peers, partOf: nil)
  }

  private init(
    trace: Trace, peer: String, subject: String, vocabulary: ProfileVocabulary, peers: PeerNames,
    partOf whole: PeerTrace?
  ) {
    self.trace = trace
    self.vocabulary = vocabulary
    self.peers = peers
    self.peer = peer
    self.whole = whole
    self.subject = trace.subject(subject)
    for machine in vocabulary.machines where machine.scope == scope {
      guard let initial = machine.states.first else { continue }
      let event = PeerEvents.state(machine.name)
      machines.append((machine, event, initial.name))
      trace.write(event, self.subject, initial.name, initial.name, "start")
    }
  }

  private var scope: NameScope { whole == nil ? .peer : .remote }

  /// Returns what is written about another user, as this app knows them: the machines, values and callbacks that the
  /// vocabulary declares with `of: .remote`. The machines begin with the first call.
  public func to(_ user: String) -> PeerTrace {
    precondition(whole == nil, "what is about one user has no other users")
    if let known = remotes[user] { return known }
    let subject = ConnectionSubject.name(of: peers.remote(user), at: peer)
    let remote = PeerTrace(
      trace: trace, peer: peer, subject: subject, vocabulary: vocabulary, peers: peers, partOf: self)
    remotes[user] = remote
    return remote
  }

  /// Puts every machine back to its first state, without a transition, and forgets every value: the process of the app has
  /// ended. What the user had accepted is over with it.
  func processEnded() {
    for index in machines.indices {
      guard let initial = machines[index].declaration.states.first?.name, machines[index].state != initial else {
        continue
      }
      trace.write(machines[index].event, subject, initial, machines[index].state, "termination")
      machines[index].state = initial
    }
    for value in vocabulary.values where value.scope == scope {
      trace.write(PeerEvents.valueForgotten, subject, value.name)
    }
    for (_, remote) in remotes.sorted(by: { $0.key < $1.key }) { remote.processEnded() }
    guard whole == nil else { return }
    for event in [PeerEvents.callID, PeerEvents.callPeer] {
      trace.write(PeerEvents.valueForgotten, subject, event.name)
    }
    trace.write(PeerEvents.accepted, subject, false)
    if hasBeside { trace.write(PeerEvents.callsBeside, subject, CommonVocabulary.nobody) }
    hasBeside = false
  }

  /// Returns the current state of a declared machine.
  public func state(of machine: String) -> String? {
    machines.first { $0.declaration.name == machine }?.state
  }

  /// Moves a machine if the vocabulary allows the transition; otherwise writes `illegal-transition`.
  ///
  /// - Returns: Whether the machine moved.
  @discardableResult
  public func enter(_ machine: String, _ state: String, on event: String) -> Bool {
    guard let index = machines.firstIndex(where: { $0.declaration.name == machine }) else {
      preconditionFailure("'\(machine)' is not declared in the vocabulary of \(vocabulary.profile)")
    }
    let from = machines[index].state
    guard machines[index].declaration.allows(from: from, to: state) else {
      trace.write(PeerEvents.illegalTransition, subject, machine, from, state, event)
      return false
    }
    machines[index].state = state
    trace.write(machines[index].event, subject, state, from, event)
    return true
  }

  /// Writes a declared callback of the product's SDK to the app, with what scenarios read of their order.
  public func notify(_ name: String) {
    precondition(
      vocabulary.events.contains { $0.name == name && $0.scope == scope }, "event '\(name)' is not declared here")
    trace.write(PeerEvents.callback(name), subject)
    trace.write(PeerEvents.value(CallbackVocabulary.last, String.self), subject, name)
    if let whole { trace.write(PeerEvents.value(CallbackVocabulary.last, String.self), whole.subject, name) }
  }

  /// Writes a declared error code.
  public func raise(_ name: String) {
    precondition(vocabulary.errorCodes.contains { $0.name == name }, "error code '\(name)' is not declared")
    trace.write(PeerEvents.code, subject, name)
  }

  /// Reports the length of a queue, after an addition, in which messages or candidates wait for something else, such as
  /// a description. A search looks for queues without a limit.
  public func backlog(_ queue: String, _ count: Int) {
    if count > 0, count.isMultiple(of: 100) { trace.write(PeerEvents.backlog, subject, queue, count) }
  }

  /// Writes the end of the call, with a declared end code.
  public func end(_ name: String) {
    precondition(vocabulary.endCodes.contains { $0.name == name }, "end code '\(name)' is not declared")
    trace.write(PeerEvents.callEnded, subject, name)
  }

  /// Sets the call that the app is in: an identifier that both sides have for it, and the id of the remote user.
  ///
  /// Call this when a call is placed, when it begins to ring, and when another call takes its place; call it before the
  /// user is asked, so that the answer is attributed to this call.
  public func begin(call id: String, with user: String) { begin(call: id, with: [user]) }

  /// Sets the call that the app shows, with the ids of all other users, of a call that rings that of its caller first.
  ///
  /// - Parameter others: the ids of the calls that go on beside it. An app that can have any declares ``ValueDeclaration/callsBeside``.
  public func begin(call id: String, with users: [String], beside others: [String] = []) {
    if hasBeside || !others.isEmpty {
      set(PeerEvents.callsBeside.name, others.isEmpty ? CommonVocabulary.nobody : others.joined(separator: " "))
      hasBeside = !others.isEmpty
    }
    set(PeerEvents.callID.name, id)
    set(PeerEvents.callPeer.name, users.map { peers.peer(ofUser: $0) }.joined(separator: ", "))
  }

  /// Writes an event with one word of detail, such as `message.rejected` with the reason. It is for readers of the
  /// trace: a scenario cannot name it.
  public func event(_ name: String, _ field: String, _ detail: String) {
    trace.write(PeerEvents.note(name, field), subject, detail)
  }

  /// Sets a declared value, such as `call.reason`.
  public func set(_ name: String, _ value: String) {
    check(name) { $0 != .peer && $0 != .peers && $0.admits(value) }
    trace.write(PeerEvents.value(name, String.self), subject, value)
  }

  /// Sets a declared flag.
  public func set(_ name: String, _ value: Bool) {
    check(name) { $0 == .flag }
    trace.write(PeerEvents.value(name, Bool.self), subject, value)
  }

  /// Sets a declared count.
  public func set(_ name: String, _ value: Int) {
    check(name) { $0 == .count }
    trace.write(PeerEvents.value(name, Int.self), subject, value)
  }

  /// Sets a declared rate.
  public func set(_ name: String, _ value: DataRate) {
    check(name) { $0 == .rate }
    trace.write(PeerEvents.value(name, Int.self), subject, Int(value.bitsPerSecond))
  }

  /// Sets a declared value that names users: one or none of type `peer`, any number of type `peers`. They are written as
  /// peers, sorted, and nobody as `none`.
  public func set(_ name: String, users: [String]) {
    check(name) { $0 == .peers || ($0 == .peer && users.count < 2) }
    let names = users.map { peers.peer(ofUser: $0) }.sorted()
    let text = names.isEmpty ? CommonVocabulary.nobody : names.joined(separator: " ")
    trace.write(PeerEvents.value(name, String.self), subject, text)
  }

  private func check(_ name: String, _ fits: (ValueType) -> Bool) {
    let own = vocabulary.values.first { $0.name == name && $0.scope == scope }
    let declaration = own ?? (scope == .peer ? CommonVocabulary.value(name) : nil)
    guard let declaration else { preconditionFailure("value '\(name)' is not declared") }
    precondition(fits(declaration.type), "value '\(name)' is declared as \(declaration.type)")
  }

  /// Writes that a signalling message to a user or to the server was sent; `isLost` if there was no connection to carry
  /// it. The message must be declared; the server reports an undeclared one as a finding of the profile.
  public func signalSent(type: String, to user: String, isLost: Bool) {
    trace.write(ServerEvents.messageSent, subject, type, peers.peer(ofUser: user), isLost)
  }

  /// Writes that a signalling message from a user or from the server was received. A received message may have any
  /// type.
  public func signalReceived(type: String, from user: String) {
    trace.write(ServerEvents.messageReceived, subject, type, peers.peer(ofUser: user))
  }
}
