import CallCore
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
        at: .zero + .milliseconds(frame * 10))
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

  @Test func `a sample that is not recorded yet, or of another stream, has no time`() {
    let record = record(clockRate: 8_000)
    #expect(record.recordingTime(of: AudioPosition(ssrc: 7, timestamp: 8 * 200)) == nil)
    #expect(record.recordingTime(of: AudioPosition(ssrc: 8, timestamp: 8 * 33)) == nil)
  }
}
