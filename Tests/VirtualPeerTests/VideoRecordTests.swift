import CallCore
import Testing

@testable import PeerSession
@testable import VirtualPeer

/// Which picture of a camera a shown one is.
@Suite struct VideoRecordTests {
  private static func shown(_ number: UInt32?, timestamp: UInt32 = 0) -> VideoRecord.Shown {
    VideoRecord.Shown(ssrc: 7, timestamp: timestamp, contentID: number, at: .zero + .seconds(9))
  }

  @Test func `two calls of a camera have no number in common, so that a picture that stands keeps its age`() {
    let record = VideoRecord()
    for call in [0, 10] as [Int64] {
      let first = record.begin()
      for picture in 0..<3 as Range<Int64> {
        let now = Instant.zero + .seconds(call + picture)
        record.record(first + UInt32(picture), at: now, sends: true)
        record.send(SentPicture(ssrc: 7, timestamp: UInt32(call + picture), captured: now))
      }
    }
    #expect(record.capture(of: Self.shown(1))?.at == .zero + .seconds(1))
    #expect(record.capture(of: Self.shown(4))?.at == .zero + .seconds(11))
  }

  @Test func `a picture without a number is known by its timestamp`() {
    let record = VideoRecord()
    record.record(5, at: .zero + .seconds(1), sends: false)
    record.send(SentPicture(ssrc: 7, timestamp: 90_000, captured: .zero + .seconds(1)))
    #expect(record.capture(of: Self.shown(nil, timestamp: 90_000))?.id == 5)
    #expect(record.capture(of: Self.shown(nil, timestamp: 90_000))?.isBlack == true)
    #expect(record.capture(of: Self.shown(nil, timestamp: 90_001))?.id == nil)
  }

  @Test func `a picture that the encoder dropped gives its timestamp to no other`() {
    let record = VideoRecord()
    record.record(5, at: .zero + .seconds(1), sends: true)
    record.send(SentPicture(ssrc: 7, timestamp: 90_000, captured: .zero + .seconds(1)))
    record.record(6, at: .zero + .seconds(2), sends: true)
    record.send(SentPicture(ssrc: 7, timestamp: 90_000, captured: .zero + .seconds(1)))
    #expect(record.capture(of: Self.shown(nil, timestamp: 90_000))?.id == 5)
  }
}
