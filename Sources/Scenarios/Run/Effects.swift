internal import CallCore
internal import ScenarioFormat
internal import ScenarioJudge
internal import SimNet
internal import VirtualPeer
internal import Vocabulary

/// Performs the effects of timeline entries and records their unexpected outcomes.
final class Effects {
  private let world: World
  private let faults: FaultLayer
  private let failures: HarnessFailures
  /// An entry that has no effect from a time on, and only marks its firings.
  var withheld: (entry: String, from: Instant)?
  /// Explains an action whose outcome differs from its entry.
  var explain: (() -> Explanation.Finding)?
  /// The outcomes that differ from their entries, one per entry.
  private var surprises: [(entry: String, finding: Finding)] = []
  private let rawMessages: RawMessages

  init(world: World, faults: FaultLayer, failures: HarnessFailures) {
    self.world = world
    self.faults = faults
    self.failures = failures
    rawMessages = RawMessages(world)
  }

  func perform(_ entry: TimelineEntry) { failures.catching(at: entry) { try carryOut(entry) } }

  private func carryOut(_ entry: TimelineEntry) throws {
    if let withheld, withheld.entry == entry.id, world.simulator.now >= withheld.from { return }
    switch entry.effect {
    case .action(let peer, let name, let arguments):
      guard let target = world.peer(peer) else { throw HarnessError("there is no peer '\(peer)'") }
      let (action, time) = ("\(peer).\(name)", world.simulator.now)
      let refusal = target.perform(UserAction(name, NamedValues(arguments))) { [weak self] refusal in
        guard let self else { return }
        // What looked like a success was none.
        surprises.removeAll { $0.entry == entry.id && $0.finding.time == time }
        if !entry.refusal.allows(refusal.reason) { note(refusal, entry, action: action) }
      }
      if !entry.refusal.allows(refusal?.reason) { note(refusal, entry, action: action) }
    case .fault(let fault, let duration):
      do {
        try faults.apply(fault, entry: entry.id, for: duration)
      } catch SimulatorError.addressInUse(let address) where fault.kind == .natReboot {
        let remedy = "name one that is free then, or write address: new"
        note(
          .vacuous, entry, expected: "nat.reboot gives the router \(address)",
          actual: "that address is taken at \(Wording.time(world.simulator.now)): \(remedy)")
      }
    case .send(let message): try send(message, entry)
    case .clear(let id):
      if !faults.isInForce(id.value) {
        let actual = "it was not in force at \(Wording.time(world.simulator.now))"
        note(.vacuous, entry, expected: "the fault '\(id.value)' to end", actual: actual)
      }
      try faults.clear(entry: id.value)
    case .mark: break
    }
  }

  private func send(_ message: RawMessage, _ entry: TimelineEntry) throws {
    let server = try world.callServer(named: message.server)
    let time = Wording.time(world.simulator.now)
    var model: SignallingMessage?
    if let type = message.like {
      model = server.passedMessage(type, number: message.number)
      if model == nil {
        let lack = message.number.map { "fewer than \($0) messages of that type" } ?? "no message of that type"
        return note(
          .vacuous, entry, expected: "\(message.type) is sent, like \(type)",
          actual: "\(lack) passed by \(time)")
      }
    }
    let delivery = RawDelivery()
    rawMessages.add(message, of: entry, delivery)
    server.inject(
      type: message.type, from: world.scenario.userID(of: message.from), to: world.scenario.userID(of: message.to),
      fields: NamedValues(message.fields), like: model, delivery: delivery)
  }

  private func note(_ refusal: ActionError?, _ entry: TimelineEntry, action: String) {
    let time = Wording.time(world.simulator.now)
    let actual = refusal.map { "it refused at \(time): \($0.reason)" } ?? "it did it at \(time)"
    switch entry.refusal {
    case .none:
      let hint = "if it should, write refused: \(refusal?.reason ?? "true")"
      note(.expectation, entry, expected: "the app does \(action)", actual: "\(actual) (\(hint))")
    case .anyReason: note(.expectation, entry, expected: "the app refuses \(action)", actual: actual)
    case .reason(let reason):
      note(.expectation, entry, expected: "the app refuses \(action): \(reason)", actual: actual)
    }
  }

  private func note(_ kind: Finding.Kind, _ entry: TimelineEntry, expected: String, actual: String) {
    guard !surprises.contains(where: { $0.entry == entry.id }) else { return }
    let account = kind == .expectation ? explain?() : nil
    let finding = Finding(
      kind, entry.title, expected: expected, actual: actual, time: world.simulator.now, trail: account?.trail ?? [],
      faults: account?.faults ?? [], explanation: account?.explanation ?? [], why: entry.why)
    surprises.append((entry.id, finding))
  }

  /// Ends the timeline. A fault that has met nothing by now was not tested, nor was one that the end of the run cuts
  /// short, nor a raw message that has not arrived. Controls are exempt: their fault changes something in other cells, and nothing in this one.
  func finish() {
    for (entry, message, reason) in rawMessages.missing {
      note(.vacuous, entry, expected: "\(message.type) reaches \(message.to)", actual: reason)
    }
    for entry in world.scenario.timeline where !entry.isControl {
      guard let fault = entry.fault else { continue }
      let name = fault.kind.rawValue
      if let lack = faults.lack(of: entry.id) {
        note(.vacuous, entry, expected: "\(name) meets something", actual: "it met nothing: \(lack)")
      } else if let rest = faults.rest(of: entry.id) {
        note(.vacuous, entry, expected: "\(name) is over before the run is", actual: rest)
      }
    }
  }

  /// Returns the findings about outcomes that differ from an entry.
  func findings(of entry: TimelineEntry, location: String?) -> [Finding] {
    surprises.filter { $0.entry == entry.id }.map {
      var finding = $0.finding
      finding.location = location
      return finding
    }
  }
}

/// Keeps the first harness error inside an event until the run can throw it.
final class HarnessFailures {
  private(set) var first: HarnessError?

  func catching(at entry: TimelineEntry? = nil, _ body: () throws -> Void) {
    do {
      try body()
    } catch {
      let place = entry.map { "timeline entry '\($0.id)': " } ?? ""
      if first == nil { first = HarnessError(place + "\(error)") }
    }
  }
}

extension TimelineEntry {
  /// The title in findings.
  package var title: String { "timeline entry '\(id)'" }

  /// Whether it asks for more than one firing.
  var isRepeated: Bool {
    switch trigger {
    case .at, .after: false
    case .when(_, _, let times): times > 1
    case .every: true
    }
  }
}
