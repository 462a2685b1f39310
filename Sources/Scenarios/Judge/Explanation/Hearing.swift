internal import CallCore
internal import ScenarioFormat

/// Finds the peers whose sound an expectation is about, and why it cannot be heard.
final class Hearing {
  private let context: MonitorContext
  private let ice: ICEHistory
  private let audio: AudioDevices

  init(_ context: MonitorContext, _ ice: ICEHistory) {
    (self.context, self.ice) = (context, ice)
    audio = AudioDevices(context)
  }

  /// Returns whether the expectation is about sound, or about the packets that carry it.
  static func isOfSound(_ expectation: Expectation) -> Bool {
    if case .recovers(let recovers) = expectation.kind, case .mediaBothWays = recovers.to { return true }
    return expectation.values.contains { value in
      value.name == PeerEvents.audible.name || (sent + received).contains(where: value.name.hasPrefix)
    }
  }

  private static let sent = ["stats.outbound-rtp", "stats.remote-inbound-rtp", "stats.media-source"]
  private static let received = ["q.", "stats.inbound-rtp", "stats.remote-outbound-rtp"]

  // MARK: Speech

  /// Returns the peers whose sound determines the values of an expectation, if it was not heard or is measured.
  func speakers(heardIn expectation: Expectation) -> [String] {
    var found = expectation.values.flatMap { speakers(heardIn: $0.name, of: $0.owner) }
    for listener in awaitedListeners(of: expectation) {
      found += speakers(heardIn: PeerEvents.audible.name, of: listener)
    }
    return found
  }

  /// Returns the peers whose first sound an expectation waits for.
  private func awaitedListeners(of expectation: Expectation) -> [String] {
    guard case .count(let count) = expectation.kind, case .anchor(let anchor) = count.subject else { return [] }
    switch anchor.kind {
    case .event(let peer, name: PeerEvents.firstPlayed.name), .becomesTrue(let peer, value: PeerEvents.audible.name):
      return [peer]
    default: return []
    }
  }

  private func speakers(heardIn value: String, of peer: String) -> [String] {
    // Without a working pair no sound was sent either.
    guard !ice.neverWorked(peer) else { return [] }
    if Self.sent.contains(where: value.hasPrefix) { return [peer] }
    if Self.received.contains(where: value.hasPrefix) { return others(than: peer) }
    return value == PeerEvents.audible.name && !hears(peer) ? others(than: peer) : []
  }

  private func hears(_ peer: String) -> Bool {
    context.watch.value(context.watch.slot(peer, PeerEvents.audible)) == true
  }

  /// Returns the other end of the peer's call, or all other peers if the app does not report it.
  private func others(than peer: String) -> [String] {
    let others = context.scenario.peers.filter { $0.hasCallStack && $0.name != peer }.map(\.name)
    let called = context.watch.value(context.watch.slot(peer, PeerEvents.callPeer))
    return others.first { $0 == called }.map { [$0] } ?? others
  }

  // MARK: Devices

  /// Returns lines about the devices of the speakers and the listeners.
  func deviceLines(of expectation: Expectation) -> [String] {
    let all = speakers(heardIn: expectation) + deafListeners(of: expectation).filter { !ice.neverWorked($0) }
    return context.scenario.peers.map(\.name).filter(all.contains).compactMap(audio.lack)
  }

  private func deafListeners(of expectation: Expectation) -> [String] {
    let heard = expectation.values.filter { $0.name == PeerEvents.audible.name }.map(\.owner)
    return (heard + awaitedListeners(of: expectation)).filter {
      !hears($0)
    }
  }

  /// Returns whether devices alone silence every expected sound, so that packet loss is irrelevant.
  func isSilencedByDevices(_ expectation: Expectation) -> Bool {
    let deaf = deafListeners(of: expectation)
    return !deaf.isEmpty
      && deaf.allSatisfy { listener in
        guard !ice.neverWorked(listener) else { return false }
        return audio.lack(of: listener) != nil || others(than: listener).allSatisfy(isMute)
      }
  }

  /// Returns whether a peer's device has no sound to send from the start of its call on.
  private func isMute(_ peer: String) -> Bool {
    guard audio.lack(of: peer) == nil, let devices = context.scenario.peer(peer)?.devices else { return true }
    return devices.permission == .denied || devices.microphone == .silence
  }
}
