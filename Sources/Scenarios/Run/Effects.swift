internal import CallCore
internal import SimNet
internal import VirtualPeer

/// Carries out what the entries of a timeline do, and keeps what came of it.
final class Effects {
  private let world: World
  private let faults: FaultLayer
  private let failures: HarnessFailures
  /// The first action of each entry that came out otherwise than the entry says.
  private var surprises: [(entry: String, finding: Finding)] = []

  init(world: World, faults: FaultLayer, failures: HarnessFailures) {
    self.world = world
    self.faults = faults
    self.failures = failures
  }

  func perform(_ entry: TimelineEntry) { failures.catching(at: entry) { try carryOut(entry) } }

  private func carryOut(_ entry: TimelineEntry) throws {
    switch entry.effect {
    case .action(let peer, let name, let arguments):
      guard let target = world.peer(peer) else { throw HarnessError("there is no peer '\(peer)'") }
      let refusal = target.perform(UserAction(name, NamedValues(arguments)))
      if (refusal != nil) != entry.isRefused { note(refusal, entry, action: "\(peer).\(name)") }
    case .fault(let fault, let duration):
      try faults.apply(fault, entry: entry.id, for: duration)
    case .send(let message, let from, let to, let fields):
      guard let server = world.signallingServer else { throw HarnessError("there is no signalling server") }
      server.inject(
        type: message, from: world.scenario.userID(of: from), to: world.scenario.userID(of: to),
        fields: NamedValues(fields))
    case .clear(let id): try faults.clear(entry: id.value)
    case .mark: break
    }
  }

  private func note(_ refusal: ActionError?, _ entry: TimelineEntry, action: String) {
    guard !surprises.contains(where: { $0.entry == entry.id }) else { return }
    let now = world.simulator.now
    let time = Wording.time(now)
    let (expected, actual) =
      if let refusal {
        ("the app does \(action)", "it refused at \(time): \(refusal.reason) (if it should, write refused: true)")
      } else {
        ("the app refuses \(action)", "it did it at \(time)")
      }
    let finding = Finding(.expectation, entry.title, expected: expected, actual: actual, time: now, why: entry.why)
    surprises.append((entry.id, finding))
  }

  /// What came of an entry otherwise than it says.
  func findings(of entry: TimelineEntry, location: String?) -> [Finding] {
    surprises.filter { $0.entry == entry.id }.map {
      var finding = $0.finding
      finding.location = location
      return finding
    }
  }
}

/// Keeps the first harness error that happened inside an event, until the run can throw it.
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
  /// As findings name it.
  var title: String { "timeline entry '\(id)'" }

  /// Whether it asks for more than one firing.
  var isRepeated: Bool {
    switch trigger {
    case .at, .after: false
    case .when(_, _, let times): times > 1
    case .every: true
    }
  }
}
