internal import CallCore
internal import PeerSession
internal import VirtualPeer

/// Measures the network quality of the participants of a room at the server, and tells those who asked what changed.
final class TwilioQualityWatch {
  private let clock: PeerClock
  private var timer: PeerTimer?
  private var participants: [TwilioParticipant] = []

  init(_ clock: PeerClock) { self.clock = clock }

  /// Takes the participants that the room has now.
  func update(_ participants: [TwilioParticipant]) {
    self.participants = participants
    guard participants.contains(where: { $0.qualityScope != .none }) else { return stop() }
    if timer == nil { schedule() }
  }

  private func schedule() {
    timer = clock.schedule(after: TwilioNetworkQuality.period) { [weak self] in
      self?.schedule()
      self?.measure()
    }
  }

  private func measure() {
    let present = participants.filter { $0.link != nil && $0.seat.connectionState == .connected }
    let reports = present.map { $0.seat.statistics() }
    for (participant, report) in zip(present, reports) { participant.quality.note(report) }
    for (participant, report) in zip(present, reports) {
      participant.quality.judge(report) { isWhole($0, to: participant) }
    }
    for participant in participants where !present.contains(where: { $0 === participant }) {
      participant.quality.lose()
    }
    for participant in participants {
      let levels = levels(for: participant)
      guard levels != participant.toldQuality else { continue }
      participant.toldQuality = levels
      participant.send("update", [("network_quality", levels)])
    }
  }

  /// Returns whether what a participant gets in a section came whole from another.
  private func isWhole(_ mid: String, to participant: TwilioParticipant) -> Bool {
    let sender = participant.seat.transceivers.first { $0.mid == mid }?.id
    guard let sender, let sid = participant.subscriptions.first(where: { $0.value == sender })?.key else {
      return false
    }
    return participants.first { $0.tracks.contains { $0.sid == sid } }?.quality.isWhole ?? false
  }

  /// What a participant learns of the levels; nil unless it asks, and before the first measurement.
  func levels(for participant: TwilioParticipant) -> JSON? {
    guard participant.qualityScope != .none, let own = participant.quality.level else { return nil }
    let others = participant.qualityScope == .local ? [] : participants.filter { $0 !== participant }
    let remotes = others.compactMap { other in
      other.quality.level.map {
        JSON.object(JSON.members([("sid", .string(other.sid)), ("level", .integer(Int64($0)))]))
      }
    }
    return .object(JSON.members([("local", .integer(Int64(own))), ("remotes", .array(remotes))]))
  }

  /// Measures no more.
  func stop() {
    timer?.cancel()
    timer = nil
    participants = []
  }
}
