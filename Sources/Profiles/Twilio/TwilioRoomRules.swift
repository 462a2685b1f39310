internal import CallCore
internal import VirtualPeer
internal import Vocabulary

/// What a room takes, as the REST API sets it when it creates one.
struct TwilioRoomRules {
  /// The video codecs that a room may be for, with the word in scenarios and the name in descriptions.
  static let videoCodecs = [(word: "vp8", name: "VP8"), (word: "h264", name: "H264")]
  static let longestName = 128
  private static let mostParticipants: Int64 = 50
  private static let durations: ClosedRange<Int64> = 600...86_400
  private static let timeouts: ClosedRange<Int64> = 60...3_600

  var participants = mostParticipants
  /// How long a participant may stay.
  var duration = Interval.minutes(4 * 60)
  /// How many tracks a participant may publish; nil without a limit.
  var publishedTracks: Int64?
  var isAudioOnly = false
  /// The name of the one video codec; nil for any.
  var videoCodec: String?
  /// When a room ends that everybody has left.
  var emptyTimeout = Interval.minutes(5)
  /// When a room ends into which nobody came.
  var unusedTimeout = Interval.minutes(5)

  /// Reads a request of the REST API.
  ///
  /// - Returns: the rules, or why there are none.
  static func read(_ request: MessageContent) -> (rules: TwilioRoomRules, problem: String?) {
    var rules = TwilioRoomRules()
    func seconds(_ name: String, _ legal: ClosedRange<Int64>, _ path: WritableKeyPath<TwilioRoomRules, Interval>)
      -> Bool
    {
      guard let value = request[name]?.integer else { return true }
      rules[keyPath: path] = .seconds(value)
      return legal.contains(value)
    }
    if let limit = request["max_participants"]?.integer { rules.participants = limit }
    guard (1...mostParticipants).contains(rules.participants) else {
      return (rules, "a room takes 1 to \(mostParticipants) participants")
    }
    guard seconds("max_participant_duration", durations, \.duration) else {
      return (rules, "a participant may stay for 600 s to 24 h")
    }
    guard seconds("empty_room_timeout", timeouts, \.emptyTimeout),
      seconds("unused_room_timeout", timeouts, \.unusedTimeout)
    else { return (rules, "an empty or unused room ends after 1 to 60 minutes") }
    rules.publishedTracks = request["max_published_tracks"]?.integer
    guard rules.publishedTracks ?? 1 >= 1 else { return (rules, "a participant may publish 1 track or more") }
    rules.isAudioOnly = request["audio_only"]?.flag ?? false
    let word = request["video_codec"]?.string
    rules.videoCodec = videoCodecs.first { $0.word == word }?.name
    return (rules, word == nil || rules.videoCodec != nil ? nil : "there is no video codec '\(word ?? "")'")
  }

  /// Returns the code with which a track is refused; nil for one that the room takes.
  ///
  /// - Parameter others: the tracks that the participant publishes already.
  func problem(of track: TwilioParticipant.Track, beside others: [TwilioParticipant.Track]) -> Int64? {
    let name = track.name
    if name.isEmpty { return 53_301 }
    if name.count > Self.longestName { return 53_302 }
    if Self.hasInvalidCharacter(name) { return 53_303 }
    let published = others.filter { $0.sid != nil }
    if published.contains(where: { $0.name == name }) { return 53_304 }
    if isAudioOnly, track.kind == .video { return 53_125 }
    if let publishedTracks, published.count >= publishedTracks { return 53_203 }
    return nil
  }

  /// Whether a name has a control character. Which characters the product takes, it does not say.
  static func hasInvalidCharacter(_ name: String) -> Bool {
    name.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
