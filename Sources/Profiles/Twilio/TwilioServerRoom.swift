internal import CallCore
internal import PeerSession
internal import SDP
internal import VirtualPeer

/// A room at the server.
final class TwilioServerRoom {
  let name: String
  let sid: String
  let limit: Int64
  /// Whether a client created it, so that it ends with its last participant.
  let isAdHoc: Bool
  private(set) var participants: [TwilioParticipant] = []
  private let environment: ServerEnvironment
  /// The number of publications so far.
  private var publications = 0
  private let speakers: TwilioSpeakers
  private let quality: TwilioQualityWatch

  init(_ name: String, sid: String, limit: Int64, isAdHoc: Bool, _ environment: ServerEnvironment) {
    self.name = name
    self.sid = sid
    self.limit = limit
    self.isAdHoc = isAdHoc
    self.environment = environment
    speakers = TwilioSpeakers(environment.clock)
    quality = TwilioQualityWatch(environment.clock)
    speakers.changed = { [weak self] in self?.tellDominantSpeaker() }
  }

  var isFull: Bool { participants.count >= limit }

  // MARK: Participants

  func add(_ participant: TwilioParticipant) {
    tell(of: participant)
    participants.append(participant)
  }

  /// Removes a participant, and tells the others.
  func remove(_ participant: TwilioParticipant) {
    participants.removeAll { $0 === participant }
    participant.changed(state: "disconnected")
    participant.close()
    tell(of: participant)
    tracksChanged()
  }

  /// Ends every connection.
  func close() {
    speakers.stop()
    quality.stop()
    for participant in participants { participant.close() }
  }

  /// The others, as one of them sees them.
  func others(than participant: TwilioParticipant) -> JSON {
    .array(participants.filter { $0 !== participant }.map(\.json))
  }

  /// Tells the others of a change of a participant.
  func tell(of participant: TwilioParticipant) {
    for other in participants where other !== participant {
      other.send("update", [("participants", .array([participant.json]))])
    }
  }

  // MARK: Tracks

  /// Takes what a client wants published.
  ///
  /// - Returns: whether anything changed.
  func publish(_ wanted: JSON, of participant: TwilioParticipant) -> Bool {
    guard let revision = wanted["revision"]?.integer, revision > participant.tracksRevision || revision == 0,
      let list = wanted["tracks"]?.array
    else { return false }
    participant.tracksRevision = revision
    var tracks: [TwilioParticipant.Track] = []
    for entry in list {
      guard let id = entry["id"]?.string, let name = entry["name"]?.string, let isEnabled = entry["enabled"]?.flag,
        let kind = entry["kind"]?.string.flatMap(MediaKind.init)
      else { continue }
      if var known = participant.tracks.first(where: { $0.id == id }) {
        known.isEnabled = isEnabled
        tracks.append(known)
        continue
      }
      let isTaken = tracks.contains { $0.name == name && $0.sid != nil }
      publications += 1
      tracks.append(
        .init(
          id: id, name: name, kind: kind,
          priority: entry["priority"]?.string.flatMap(TwilioTrackPriority.init) ?? .standard, isEnabled: isEnabled,
          sid: isTaken ? nil : "MT\(sid.dropFirst(2))-\(publications)", error: isTaken ? 53_304 : nil))
    }
    participant.tracks = tracks
    participant.changed()
    return true
  }

  /// Gives all participants the tracks that there are now.
  func tracksChanged() {
    for participant in participants { subscribe(participant) }
    speakers.update(participants)
    quality.update(participants)
  }

  /// Reads which of a participant's tracks come in.
  ///
  /// - Returns: whether these are others than before. Most descriptions change nothing: they answer for the tracks of others.
  func readTracks(of participant: TwilioParticipant) -> Bool {
    let transceivers = participant.seat.transceivers
    let publications = participant.tracks.compactMap { track -> TwilioParticipant.Publication? in
      guard let sid = track.sid, var received = participant.transceiver(of: track, among: transceivers)?.receiver.track
      else { return nil }
      received.id = sid
      return .init(sid: sid, track: received, priority: track.priority)
    }
    defer { participant.publications = publications }
    return publications.map(\.sid) != participant.publications.map(\.sid)
  }

  /// What a participant learns of the dominant speaker; nil unless it asks.
  func dominantSpeaker(for participant: TwilioParticipant) -> JSON? {
    guard participant.wantsDominantSpeaker else { return nil }
    return .object(JSON.members([("participant", speakers.current.map(JSON.string))]))
  }

  /// What a participant learns of network quality levels; nil unless it asks.
  func networkQuality(for participant: TwilioParticipant) -> JSON? { quality.levels(for: participant) }

  private func tellDominantSpeaker() {
    for participant in participants where participant.wantsDominantSpeaker {
      participant.send("update", [("dominant_speaker", dominantSpeaker(for: participant))])
    }
  }

  /// Sends a participant the tracks of the others, and no more those that are gone; offers if that changed anything.
  private func subscribe(_ participant: TwilioParticipant) {
    let wanted = participants.flatMap { $0 === participant ? [] : $0.publications }
    var hasChanged = false
    let seat = participant.seat
    let sids = Set(wanted.map(\.sid))
    for sid in participant.subscriptions.keys.filter({ !sids.contains($0) }).sorted() {
      if let sender = participant.subscriptions[sid] ?? nil {
        try? seat.stop(sender)
        hasChanged = true
      }
      participant.unsubscribe(from: sid)
    }
    for publication in wanted where !participant.subscriptions.keys.contains(publication.sid) {
      let sender = try? seat.addTransceiver(publication.track, TransceiverInit(direction: .sendonly))
      participant.subscriptions.updateValue(sender, forKey: publication.sid)
      if let sender, publication.track.kind == .video, let profile = participant.bandwidthProfile {
        try? seat.setForwardingPolicy(profile.policy(of: publication.priority), of: sender)
      }
      if sender != nil { hasChanged = true }
    }
    guard hasChanged else { return }
    do throws(SessionError) { try participant.negotiator.offer() } catch {
      environment.malformed("an offer for \(participant.identity): \(error)")
    }
  }
}
