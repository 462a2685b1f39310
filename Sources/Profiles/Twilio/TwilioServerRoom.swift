internal import CallCore
internal import PeerSession
internal import SCTP
internal import SDP
internal import VirtualPeer

/// A room at the server.
final class TwilioServerRoom {
  let name: String
  let sid: String
  let rules: TwilioRoomRules
  /// Whether a client created it, so that it ends with its last participant.
  let isAdHoc: Bool
  private(set) var participants: [TwilioParticipant] = []
  private let environment: ServerEnvironment
  /// The number of publications so far.
  private var publications = 0
  private let speakers: TwilioSpeakers
  private let quality: TwilioQualityWatch
  /// Ends the room while nobody is in it.
  var endTimer: PeerTimer?

  init(_ name: String, sid: String, rules: TwilioRoomRules, isAdHoc: Bool, _ environment: ServerEnvironment) {
    self.name = name
    self.sid = sid
    self.rules = rules
    self.isAdHoc = isAdHoc
    self.environment = environment
    speakers = TwilioSpeakers(environment.clock)
    quality = TwilioQualityWatch(environment.clock)
    speakers.changed = { [weak self] in self?.tellDominantSpeaker() }
  }

  var isFull: Bool { participants.count >= rules.participants }

  // MARK: Participants

  func add(_ participant: TwilioParticipant) {
    endTimer?.cancel()
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
    endTimer?.cancel()
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
  func publish(_ wanted: JSON, of participant: TwilioParticipant, refusing refusal: TwilioRefusal?) -> Bool {
    guard let revision = wanted["revision"]?.integer, revision > participant.tracksRevision || revision == 0,
      let list = wanted["tracks"]?.array
    else { return false }
    participant.tracksRevision = revision
    let wanted = list.compactMap(TwilioParticipant.Track.init)
    let kept = participant.tracks.filter { track in wanted.contains { $0.id == track.id } }
    var tracks: [TwilioParticipant.Track] = []
    for var track in wanted {
      if var known = kept.first(where: { $0.id == track.id }) {
        if track.error == nil { known.isEnabled = track.isEnabled }
        tracks.append(known)
        continue
      }
      let others = kept + tracks.filter { new in !kept.contains { $0.id == new.id } }
      track.error = track.error ?? problem(of: track, participant, beside: others, refusing: refusal)
      if track.error == nil {
        publications += 1
        track.sid = "MT\(sid.dropFirst(2))-\(publications)"
      }
      tracks.append(track)
    }
    participant.tracks = tracks
    participant.changed()
    return true
  }

  private func problem(
    of track: TwilioParticipant.Track, _ participant: TwilioParticipant, beside others: [TwilioParticipant.Track],
    refusing refusal: TwilioRefusal?
  ) -> Int64? {
    if let code = rules.problem(of: track, beside: others) { return code }
    if refusal == .trackCapacityExceeded { return 53_305 }
    return participant.lacks(rules.videoCodec, for: track) ? 53_404 : nil
  }

  /// Refuses tracks of a codec that the room is not for.
  ///
  /// - Returns: whether there are any.
  func refuseOtherCodecs(of participant: TwilioParticipant) -> Bool {
    let refused = participant.tracks.indices.filter {
      participant.tracks[$0].sid != nil && participant.lacks(rules.videoCodec, for: participant.tracks[$0])
    }
    for index in refused { (participant.tracks[index].sid, participant.tracks[index].error) = (nil, 53_404) }
    if !refused.isEmpty { participant.changed() }
    return !refused.isEmpty
  }

  /// Whether a participant brings tracks, and none that the room has a codec for.
  func lacksCodecs(for wanted: JSON, of participant: TwilioParticipant) -> Bool {
    let tracks = (wanted["tracks"]?.array ?? []).compactMap(TwilioParticipant.Track.init)
    return !tracks.isEmpty && tracks.allSatisfy { participant.lacks(rules.videoCodec, for: $0) }
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
      guard let sid = track.sid else { return nil }
      if track.kind == .data {
        return participant.dataChannels[track.id].map {
          .init(sid: sid, content: .data(Self.settings(of: $0)), priority: track.priority)
        }
      }
      guard var received = participant.transceiver(of: track, among: transceivers)?.receiver.track else { return nil }
      received.id = sid
      return .init(sid: sid, content: .media(received), priority: track.priority)
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

  /// Adds a track to a connection, unless it was tried before. Returns whether an offer is needed.
  private func subscribe(
    _ participant: TwilioParticipant, to track: MediaStreamTrack, _ publication: TwilioParticipant.Publication,
    of publisher: TwilioParticipant
  ) -> Bool {
    guard !participant.subscriptions.keys.contains(publication.sid) else { return false }
    let seat = participant.seat
    let settings = TransceiverInit(direction: .sendonly, streamIDs: [publisher.sid])
    let sender = try? seat.addTransceiver(track, settings)
    participant.subscriptions.updateValue(sender, forKey: publication.sid)
    if let sender, track.kind == .video, let profile = participant.bandwidthProfile {
      try? seat.setForwardingPolicy(profile.policy(of: publication.priority), of: sender)
    }
    return sender != nil
  }

  /// Opens a channel for a data track, unless it was tried before. Returns whether an offer is needed: the first channel
  /// needs a section.
  private func subscribe(
    _ participant: TwilioParticipant, toData sid: String, _ settings: DataChannelInit
  ) -> Bool {
    guard !participant.dataSubscriptions.keys.contains(sid) else { return false }
    let channel = try? participant.seat.createDataChannel(sid, settings)
    participant.dataSubscriptions.updateValue(channel, forKey: sid)
    guard channel != nil, !participant.hasDataSection else { return false }
    participant.hasDataSection = true
    return true
  }

  // MARK: Data tracks

  /// Returns the settings of a channel that passes on what comes on another one.
  private static func settings(of channel: DataChannelSnapshot) -> DataChannelInit {
    var settings = DataChannelInit()
    (settings.ordered, settings.maxPacketLifeTime) = (channel.ordered, channel.maxPacketLifeTime)
    settings.maxRetransmits = channel.maxRetransmits
    return settings
  }

  /// Follows the data channels of a participant.
  func dataHappened(_ event: SessionEvent, at participant: TwilioParticipant) {
    switch event {
    case .dataChannel(let channel):
      participant.hasDataSection = true
      participant.dataChannels[channel.label] = channel
    case .dataChannelStateChange(let id, .closed):
      guard let label = participant.dataChannels.first(where: { $0.value.channel == id })?.key else { return }
      participant.dataChannels[label] = nil
    case .dataChannelMessage(let id, let message): return forward(message, on: id, of: participant)
    default: return
    }
    if readTracks(of: participant) { tracksChanged() }
  }

  /// Passes a message on to those whose channel is open.
  private func forward(_ message: DataChannelMessage, on channel: DataChannelID, of owner: TwilioParticipant) {
    guard let label = owner.dataChannels.first(where: { $0.value.channel == channel })?.key,
      let sid = owner.tracks.first(where: { $0.id == label })?.sid
    else { return }
    for participant in participants where participant !== owner {
      guard let channel = participant.dataSubscriptions[sid] ?? nil else { continue }
      // A channel that is not open yet, or no more, loses it.
      try? participant.seat.send(message, on: channel)
    }
  }

  /// Sends a participant the tracks of the others, and no more those that are gone; offers if that changed anything.
  private func subscribe(_ participant: TwilioParticipant) {
    let others = participants.filter { $0 !== participant }
    let wanted = others.flatMap { other in other.publications.map { (publication: $0, publisher: other) } }
    var hasChanged = false
    let seat = participant.seat
    let sids = Set(wanted.map(\.publication.sid))
    for sid in participant.subscriptions.keys.filter({ !sids.contains($0) }).sorted() {
      if let sender = participant.subscriptions[sid] ?? nil {
        try? seat.stop(sender)
        hasChanged = true
      }
      participant.unsubscribe(from: sid)
    }
    for sid in participant.dataSubscriptions.keys.filter({ !sids.contains($0) }).sorted() {
      if let channel = participant.dataSubscriptions[sid] ?? nil { seat.closeDataChannel(channel) }
      participant.unsubscribe(from: sid)
    }
    for (publication, publisher) in wanted {
      switch publication.content {
      case .media(let track):
        if subscribe(participant, to: track, publication, of: publisher) { hasChanged = true }
      case .data(let settings):
        if subscribe(participant, toData: publication.sid, settings) { hasChanged = true }
      }
    }
    guard hasChanged else { return }
    do throws(SessionError) { try participant.negotiator.offer() } catch {
      environment.malformed("an offer for \(participant.identity): \(error)")
    }
  }
}
