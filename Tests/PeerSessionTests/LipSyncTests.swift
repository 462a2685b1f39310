import CallCore
import PeerSession
import Pictures
import SDP
import StackWorlds
import Statistics
import Testing

/// Audio and video of one media stream, of which one takes longer than the other.
@Suite struct LipSyncTests {
  /// Side B receives a microphone and a camera.
  private final class Received {
    let pair: SessionPair

    /// - Parameters:
    ///   - stream: The media stream of the camera; nil for that of the microphone.
    ///   - heldUp: The media whose packets take longer, and by how much.
    init(stream: String? = nil, _ heldUp: MediaKind, by delay: Interval) throws {
      pair = SessionPair { $0.video = VideoSettings() }
      let settings = TransceiverInit(direction: .sendonly, streamIDs: stream.map { [$0] } ?? [])
      try pair.a.session.addTransceiver(.camera, settings)
      pair.a.camera = GeneratedVideo(.movingBars, size: PictureSize(320, 240)!)
      try pair.negotiate()
      let sent = pair.a.session.statistics(at: pair.now).entries
      let source = sent.first { $0.type == "outbound-rtp" && $0.kind == heldUp.rawValue }?["ssrc"]
      guard case .integer(let ssrc)? = source else { throw Missing() }
      pair.holdsUp = { sent in
        guard sent.fromA, sent.isMedia else { return .zero }
        let isHeldUp = Int64(sent.bytes.span.bytes.bigEndian(UInt32.self, at: 8) ?? 0) == ssrc
        return isHeldUp ? delay : .zero
      }
    }

    struct Missing: Error {}

    /// The time by which pictures come after their sound, in milliseconds; nil while it is unknown.
    var offset: Double? {
      let entries = pair.b.session.statistics(at: pair.now).entries.filter { $0.type == "inbound-rtp" }
      let times = ["audio", "video"].map { kind -> Double? in
        guard case .real(let time)? = entries.first(where: { $0.kind == kind })?["estimatedPlayoutTimestamp"] else {
          return nil
        }
        return time
      }
      guard let audio = times[0], let video = times[1] else { return nil }
      return audio - video
    }
  }

  @Test func `sound waits for pictures that take longer`() throws {
    let received = try Received(.video, by: .milliseconds(250))
    received.pair.run(for: .seconds(3))
    #expect(try #require(received.offset) > 100)
    received.pair.run(for: .seconds(25))
    #expect(abs(try #require(received.offset)) < 45)
  }

  @Test func `pictures wait for sound that takes longer`() throws {
    let received = try Received(.audio, by: .milliseconds(250))
    received.pair.run(for: .seconds(3))
    #expect(try #require(received.offset) < -100)
    received.pair.run(for: .seconds(25))
    #expect(abs(try #require(received.offset)) < 45)
  }

  @Test func `tracks of different streams do not wait for each other`() throws {
    let received = try Received(stream: "screen", .video, by: .milliseconds(250))
    received.pair.run(for: .seconds(28))
    #expect(try #require(received.offset) > 200)
  }

  @Test func `a track without a stream does not wait`() throws {
    let received = try Received(stream: "-", .video, by: .milliseconds(250))
    received.pair.run(for: .seconds(28))
    #expect(try #require(received.offset) > 200)
  }
}
