internal import CallCore
internal import PeerSession
internal import SDP
internal import VirtualPeer

/// The dominant speaker of a room at the server: found by the levels in the audio of its participants, and told to those
/// who asked.
final class TwilioSpeakers {
  private let clock: PeerClock
  private var speaker = DominantSpeaker()
  private var timer: PeerTimer?
  /// The identities of participants by the sids of their audible tracks.
  private var owners: [String: String] = [:]
  /// The participant who was told last.
  private var told: String?
  /// Called when another participant speaks, or nobody does any more.
  var changed: (() -> Void)?

  init(_ clock: PeerClock) { self.clock = clock }

  /// The participant's sid; nil while nobody is the speaker.
  var current: String? { speaker.current.flatMap { owners[$0] } }

  /// Takes the participants of the room with the tracks that they have now.
  func update(_ participants: [TwilioParticipant]) {
    guard participants.contains(where: \.wantsDominantSpeaker) else { return stop() }
    var ids: [String] = []
    for participant in participants {
      let transceivers = participant.seat.transceivers
      let tracks = participant.tracks.filter { $0.kind == .audio && $0.isEnabled }
      var sids: [Transceiver.ID: String] = [:]
      for track in tracks {
        guard let sid = track.sid, let transceiver = participant.transceiver(of: track, among: transceivers)?.id else {
          continue
        }
        sids[transceiver] = sid
        owners[sid] = participant.sid
        ids.append(sid)
      }
      observe(participant, sids)
    }
    owners = owners.filter { ids.contains($0.key) }
    speaker.setSpeakers(ids, at: clock.now)
    tell()
    if timer == nil { schedule() }
  }

  private func observe(_ participant: TwilioParticipant, _ sids: [Transceiver.ID: String]) {
    try? participant.seat.observeAudioLevels { [weak self] transceiver, level in
      guard let self, let sid = sids[transceiver] else { return }
      speaker.add(level, of: sid, at: clock.now)
    }
  }

  private func schedule() {
    timer = clock.schedule(after: DominantSpeaker.period) { [weak self] in
      guard let self else { return }
      if speaker.evaluate(at: clock.now) { tell() }
      schedule()
    }
  }

  private func tell() {
    guard current != told else { return }
    told = current
    changed?()
  }

  /// Looks no more.
  func stop() {
    timer?.cancel()
    timer = nil
    speaker = DominantSpeaker()
    (owners, told) = ([:], nil)
  }
}
