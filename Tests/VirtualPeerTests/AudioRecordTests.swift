import CallCore
import Codecs
import PeerSession
import Testing

@testable import VirtualPeer

/// The times at which samples of a stream were recorded.
@Suite struct AudioRecordTests {
  /// A record of ten frames of 10 ms, the first of which ends at 10 ms.
  private func record(clockRate: UInt32, delay: Interval = .zero) -> AudioRecord {
    let record = AudioRecord()
    for frame in 1...10 as ClosedRange<Int64> {
      record.record(
        RecordingPosition(
          AudioPosition(ssrc: 7, timestamp: UInt32(frame) * (clockRate / 100)), clockRate: clockRate, codecDelay: delay),
        over: "alice", at: .zero + .milliseconds(frame * 10))
    }
    return record
  }

  @Test(arguments: [8_000, 48_000] as [UInt32])
  func `a sample was recorded at the time of its timestamp, by the clock of its stream`(clockRate: UInt32) {
    let position = AudioPosition(ssrc: 7, timestamp: clockRate / 1_000 * 33)
    #expect(record(clockRate: clockRate).recordingTime(of: position) == .zero + .milliseconds(33))
  }

  @Test func `the codec's delay counts as time since the recording`() {
    let position = AudioPosition(ssrc: 7, timestamp: 8 * 33)
    let time = record(clockRate: 8_000, delay: .milliseconds(4)).recordingTime(of: position)
    #expect(time == .zero + .milliseconds(29))
  }

  @Test func `speech is where the frame at a position is louder than -50 dBov, and the track not muted`() {
    let record = AudioRecord()
    let levels: [(AudioLevel, isMuted: Bool)] = [
      (.silence, false), (AudioLevel(50), false), (AudioLevel(51), false), (AudioLevel(20), true),
    ]
    for (frame, (level, isMuted)) in levels.enumerated() {
      record.begin(level)
      var position = RecordingPosition(
        AudioPosition(ssrc: 7, timestamp: UInt32(frame + 1) * 80), clockRate: 8_000, codecDelay: .zero)
      position.isMuted = isMuted
      record.record(position, over: "alice", at: .zero + .milliseconds(Int64(frame + 1) * 10))
    }
    let found = [100, 180, 260].map { record.isSpeech(at: AudioPosition(ssrc: 7, timestamp: $0), count: 480) }
    #expect(found.map { $0?.piece } == [true, false, false])
    #expect(found.map { $0?.end.timestamp } == [180, 260, 340])
  }

  @Test func `where digits are sent in place of sound nobody speaks`() {
    let record = AudioRecord()
    for frame in 1...2 as ClosedRange<UInt32> {
      record.begin(AudioLevel(20))
      var position = RecordingPosition(
        AudioPosition(ssrc: 7, timestamp: frame * 80), clockRate: 8_000, codecDelay: .zero)
      position.isOfDigits = frame == 2
      record.record(position, over: "alice", at: .zero + .milliseconds(Int64(frame) * 10))
    }
    #expect(record.isSpeech(at: AudioPosition(ssrc: 7, timestamp: 80), count: 480)?.piece == false)
  }

  @Test func `a frame of samples is speech by its level`() {
    let record = AudioRecord()
    for (frame, sample) in [0, 90, 110].enumerated() {
      record.begin([Int16](repeating: Int16(sample), count: 480).span)
      record.record(
        RecordingPosition(
          AudioPosition(ssrc: 7, timestamp: UInt32(frame + 1) * 480), clockRate: 48_000, codecDelay: .zero),
        over: "alice", at: .zero + .milliseconds(Int64(frame + 1) * 10))
    }
    let found = [700, 1_000].map { record.isSpeech(at: AudioPosition(ssrc: 7, timestamp: $0), count: 480)?.piece }
    #expect(found == [false, true])
  }

  @Test func `each connection has the formats of its own sound, each once`() {
    let record = AudioRecord()
    for (ssrc, packets) in [(1, 0), (2, 1), (1, 0), (2, 0), (1, 1)] as [(UInt32, Int)] {
      var position = RecordingPosition(AudioPosition(ssrc: ssrc, timestamp: 80), clockRate: 8_000, codecDelay: .zero)
      position.format.repeatedPackets = packets
      record.record(position, over: ssrc == 1 ? "bob" : "carol", at: .zero)
    }
    #expect(record.formats.mapValues { $0.map(\.format.repeatedPackets) } == ["bob": [0, 1], "carol": [1, 0]])
    #expect(record.formats["bob"]?.map(\.count) == [2, 1])
  }

  @Test func `the sound in a packet is that of the stream`() {
    let record = AudioRecord()
    var position = RecordingPosition(AudioPosition(ssrc: 7, timestamp: 80), clockRate: 8_000, codecDelay: .zero)
    position.format.packetDuration = .milliseconds(40)
    record.record(position, over: "alice", at: .zero + .milliseconds(10))
    #expect(record.packetDuration(of: 7) == .milliseconds(40))
    #expect(record.packetDuration(of: 8) == nil)
  }

  @Test func `a sample that is not recorded yet, or of another stream, has no time`() {
    let record = record(clockRate: 8_000)
    #expect(record.recordingTime(of: AudioPosition(ssrc: 7, timestamp: 8 * 200)) == nil)
    #expect(record.recordingTime(of: AudioPosition(ssrc: 8, timestamp: 8 * 33)) == nil)
  }
}
