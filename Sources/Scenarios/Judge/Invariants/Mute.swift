internal import CallCore
internal import ScenarioFormat
internal import Statistics
internal import Vocabulary

/// While its user has muted a peer, nothing but silence leaves the device, whatever happens to the connection.
///
/// The user's own actions count, and not the app's word. A modelled payload tells its level before protection, packet by
/// packet. A real one does not: there the energy of the source that the stack sends must not grow.
final class Mute {
  /// The longest packet is 120 ms, and may have begun before the mute; the rest is for its way through the pacer.
  static let grace = Interval.milliseconds(200)
  /// The level from which the energy of a real source is counted falls to a quarter every 110 ms: from full scale to silence
  /// it takes eight times.
  static let decay = Interval.milliseconds(900)

  /// What one peer's user wants.
  private final class Side {
    var mutedAt: Instant?
    /// The last action that muted or unmuted, and the state before it, in case the app refuses it.
    private var last: (action: String, before: Instant?)?
    var isTold = false
    /// The energy of the source of each connection when the grace was over.
    var energies: [String: Double] = [:]

    func set(_ mutedAt: Instant?, by action: String? = nil) {
      last = action.map { ($0, self.mutedAt) }
      self.mutedAt = mutedAt
      (isTold, energies) = (false, [:])
    }

    func refused(_ action: String) {
      guard let last, last.action == action else { return }
      mutedAt = last.before
      self.last = nil
    }

    func isOver(at time: Instant, after grace: Interval = Mute.grace) -> Bool {
      mutedAt.map { time <= $0 + grace } ?? true
    }
  }

  private var sides: [String: Side] = [:]
  private let isReal: Bool
  private let report: (Violation) -> Void

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    self.report = report
    isReal = context.scenario.media == .real
    for peer in context.scenario.peers where peer.stack != .external {
      guard let vocabulary = context.vocabulary(of: peer.name) else { continue }
      let side = Side()
      sides[peer.name] = side
      context.watch.listen(to: PeerEvents.action, of: peer.name) { record, action, _ in
        switch vocabulary.action(action)?.role {
        case .mute: side.set(side.mutedAt ?? record.time, by: action)
        case .unmute: side.set(nil, by: action)
        default: break
        }
      }
      context.watch.listen(to: PeerEvents.actionRefused, of: peer.name) { _, action, _ in side.refused(action) }
      context.watch.listen(to: PeerEvents.callEnded, of: peer.name) { _, _ in side.set(nil) }
      // A new instance of the app knows nothing of it.
      context.watch.listen(to: PeerEvents.appState, of: peer.name) { _, state in
        if state == AppState.terminated.rawValue { side.set(nil) }
      }
      for subject in peer.connectionSubjects {
        context.watch.listen(to: PeerConnectionEvents.mediaSent, of: subject) { [unowned self] record, _, _, prefix in
          guard SyntheticPayload.hasSound(prefix: prefix), !side.isOver(at: record.time) else { return }
          tell(peer.name, side, at: record.time)
        }
      }
    }
  }

  /// Takes the statistics of a peer's connection.
  func check(_ stats: StatsReport, of peer: String, over connection: String, at time: Instant) {
    guard isReal, let side = sides[peer], !side.isOver(at: time, after: Self.grace + Self.decay) else { return }
    let energies = stats.entries.compactMap { entry -> Double? in
      guard entry.type == "media-source", case .real(let energy)? = entry["totalAudioEnergy"] else { return nil }
      return energy
    }
    let energy = energies.reduce(0, +)
    if let old = side.energies.updateValue(energy, forKey: connection), energy > old { tell(peer, side, at: time) }
  }

  private func tell(_ peer: String, _ side: Side, at time: Instant) {
    guard !side.isTold, let mutedAt = side.mutedAt else { return }
    side.isTold = true
    let actual =
      "\(peer) sent sound at \(Wording.time(time)), although its user muted it at \(Wording.time(mutedAt))"
    report(Violation(.mute, at: time, actual: actual))
  }
}
