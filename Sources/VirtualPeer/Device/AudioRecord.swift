package import CallCore
package import Codecs
package import PeerSession

/// Recording times of a peer's microphone samples, and the sample its speaker plays. Only a simulator knows both.
package final class AudioRecord {
  private struct Recorded {
    var recorded: RecordingPosition
    var end: Instant
    var isSpeech: Bool

    var timestamp: UInt32 { recorded.position.timestamp }
  }

  /// How long a frame lasts: a device that runs plays and records one after the other.
  package static let framePeriod = audioDevicePeriod.interval
  /// A frame is speech from -50 dBov on.
  package static let quietestSpeech = AudioLevel(50)

  /// The last frames of one stream, in a ring, and where somebody speaks in all of it.
  private struct Stream {
    var frames: [Recorded] = []
    var next = 0
    var speech = SpeechRuns()

    mutating func add(_ frame: Recorded) {
      if frames.count < AudioRecord.capacity {
        frames.append(frame)
      } else {
        frames[next] = frame
      }
      next = (next + 1) % AudioRecord.capacity
      speech.add(before: frame.timestamp, ticks: frame.recorded.clockRate / 100, isSpeech: frame.isSpeech)
    }
  }

  /// Ten seconds of frames of 10 ms: more than any playout delay.
  private static let capacity = 1_024
  private var streams: [UInt32: Stream] = [:]
  /// What the packets of each stream carry, and how.
  private var packets: [UInt32: (sent: OpusPacketCounts, format: SentAudioFormat)] = [:]
  /// A format of sent sound, and how often it was recorded in it.
  package struct FormatUse {
    package let format: SentAudioFormat
    package fileprivate(set) var count = 1
  }
  /// How sound was sent over each connection, by its trace subject, each format once.
  package private(set) var formats: [String: [FormatUse]] = [:]
  /// The sample that the speaker played last for each connection, and the time it began; nil if it was concealed or
  /// none.
  private var played: [String: (position: AudioPosition, at: Instant)] = [:]
  /// Called when sent sound plays again after a gap of at least 100 ms, which began at a time. Returns whether it does: what
  /// was buffered before the gap is none.
  package var resumed: ((_ position: AudioPosition, _ beginning: Instant, _ now: Instant) -> Bool)?
  /// When sound that was sent played last.
  private var lastPlayed: Instant?
  /// Called with the position of what plays of each received stream; nil if nobody asks.
  package var onPlay: ((AudioPosition) -> Void)?
  /// Called with every frame in which somebody speaks into a microphone that is sent; nil if nobody asks.
  package var onSpeech: (() -> Void)?
  /// When the first connection was there to which the microphone is sent; a recording begins then.
  package internal(set) var firstListened: Instant?
  /// The sound of the microphone; nil if nobody compares it.
  private var tape: MicrophoneTape?
  /// The level of the frame of the microphone whose positions are recorded next.
  private var level = AudioLevel.silence
  /// Are told how many samples are played over a connection, and where they come from, by the trace subject.
  private var followers: [String: (_ count: Int, _ place: PlayedPlace) -> Void] = [:]
  /// Is told so of every connection.
  private var follower: ((_ connection: String, _ count: Int, _ place: PlayedPlace) -> Void)?
  /// Receives samples that are played over a connection, and where they come from in each stream.
  package typealias Listener = (_ heard: [Int16], _ places: [PlayedPlace]) -> Void
  /// Get what is played over a connection, by the trace subject.
  private var listeners: [String: [Listener]] = [:]
  /// The shortest gap that counts as an interruption; shorter gaps are concealed losses.
  package static let interruption = Interval.milliseconds(100)

  package init() {}

  /// - Parameter position: The position after the last recorded sample; the sample there is recorded at `now`.
  package func record(_ position: RecordingPosition, over connection: String, at now: Instant) {
    tape?.keep(before: position)
    let recorded = Recorded(recorded: position, end: now, isSpeech: position.isSent && level >= Self.quietestSpeech)
    if recorded.isSpeech { onSpeech?() }
    let ssrc = position.position.ssrc
    formats[connection, default: []].note(position.format)
    packets[ssrc] = (position.sent, position.format)
    streams[ssrc, default: Stream()].add(recorded)
  }

  /// Returns the sample that the speaker played last for a connection, by its trace subject.
  package func played(over connection: String) -> (position: AudioPosition, at: Instant)? { played[connection] }

  func play(_ count: Int, from place: PlayedPlace, over connection: String, at now: Instant) {
    played[connection] = place.position.map { ($0, now) }
    followers[connection]?(count, place)
    follower?(connection, count, place)
    guard let position = place.position else { return }
    if let last = lastPlayed, now - last >= Self.interruption, resumed?(position, last, now) == false { return }
    lastPlayed = now
  }

  /// Notes that the call is over: the sound of the next one ends no gap of this.
  package func endCall() { lastPlayed = nil }

  /// What the Opus packets carry that this peer has sent, a value for each stream.
  package var sentPackets: [OpusPacketCounts] { packets.sorted { $0.key < $1.key }.map(\.value.sent) }

  /// Returns how much sound is in a packet of a stream of this peer's microphone; nil for one of another peer.
  package func packetDuration(of ssrc: UInt32) -> Interval? { packets[ssrc]?.format.packetDuration }

  /// Returns whether a stream is one of this peer's microphone.
  package func sends(_ ssrc: UInt32) -> Bool { streams[ssrc] != nil }

  // MARK: Speech

  /// Calls `follower` with all that is played over a connection.
  package func follow(_ connection: String, _ follower: @escaping (_ count: Int, _ place: PlayedPlace) -> Void) {
    precondition(followers[connection] == nil)
    followers[connection] = follower
  }

  /// Calls `follower` with all that is played over each connection.
  package func followAll(_ follower: @escaping (_ connection: String, _ count: Int, _ place: PlayedPlace) -> Void) {
    precondition(self.follower == nil)
    self.follower = follower
  }

  /// Returns whether somebody speaks in a stream of this peer at a position; nil if that is none of what was recorded.
  package func isSpeech(at position: AudioPosition) -> Bool? {
    streams[position.ssrc]?.speech.isSpeech(at: position.timestamp)
  }

  /// Returns whether somebody speaks in a stream of this peer at a position, and the position after so many samples at
  /// 48 kHz; nil if that is none of what was recorded.
  package func isSpeech(at position: AudioPosition, count: Int) -> (piece: Bool, end: AudioPosition)? {
    guard let stream = streams[position.ssrc], let isSpeech = isSpeech(at: position) else { return nil }
    // Another codec may have another media clock.
    let frame = frame(at: position) ?? stream.frames[(stream.next + stream.frames.count - 1) % stream.frames.count]
    // The decoded sound comes after its timestamps by the delay of the codec, which is less than a frame.
    return (isSpeech, frame.recorded.position(count, after: position))
  }

  // MARK: Sound

  /// Keeps the sound of the microphone from now on.
  package func keepSound() { if tape == nil { tape = MicrophoneTape() } }

  /// Calls `listener` with all that is played over a connection.
  package func listen(to connection: String, _ listener: @escaping Listener) {
    listeners[connection, default: []].append(listener)
  }

  /// Takes the frame of the microphone whose positions are recorded next.
  func begin(_ frame: Span<Int16>) {
    level = AudioLevel(of: frame)
    tape?.frame = frame.indices.map { frame[$0] }
  }

  /// Takes the level of the microphone whose positions are recorded next.
  func begin(_ level: AudioLevel) { self.level = level }

  /// Takes the samples after the first `start` ones, which were played over a connection.
  ///
  /// - Parameter places: Returns where they come from in each stream.
  func hear(_ output: Span<Int16>, after start: Int, over connection: String, places: () -> [PlayedPlace]) {
    guard let listeners = listeners[connection], start < output.count else { return }
    let heard = (start..<output.count).map { output[$0] }
    let places = places()
    for listener in listeners { listener(heard, places) }
  }

  /// Returns the sound that a stream of this peer carries from a position on, and the position after it; nil if it is
  /// not kept.
  package func sound(at position: AudioPosition, count: Int) -> (piece: [Int16], end: AudioPosition)? {
    tape?.sound(at: position, count: count)
  }

  // MARK: Times

  /// Returns the time at which a sample reached this peer's microphone, including the codec's delay; nil for a stream
  /// of another peer, and for a sample older than the record.
  package func recordingTime(of position: AudioPosition) -> Instant? {
    frame(at: position).map { Self.instant(of: position.timestamp, before: $0) - $0.recorded.codecDelay }
  }

  /// Returns the frame that has a position; nil if none is kept that does, or the one before it.
  private func frame(at position: AudioPosition) -> Recorded? {
    guard let stream = streams[position.ssrc] else { return nil }
    let count = stream.frames.count
    // Searches from the newest frame backwards: the frame after the first one that ends at or before the sample has it.
    var after: Recorded?
    for age in 1...max(count, 1) where age <= count {
      let frame = stream.frames[(stream.next + count - age) % count]
      if Int32(bitPattern: position.timestamp &- frame.timestamp) >= 0 { return after }
      after = frame
    }
    return nil
  }

  private static func instant(of timestamp: UInt32, before frame: Recorded) -> Instant {
    let ticks = Int64(Int32(bitPattern: frame.timestamp &- timestamp))
    return frame.end - Interval(nanoseconds: ticks * 1_000_000_000 / Int64(max(1, frame.recorded.clockRate)))
  }
}

extension [AudioRecord.FormatUse] {
  fileprivate mutating func note(_ format: SentAudioFormat) {
    if let index = firstIndex(where: { $0.format == format }) {
      self[index].count += 1
    } else {
      append(AudioRecord.FormatUse(format: format))
    }
  }
}
