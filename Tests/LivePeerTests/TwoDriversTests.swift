import CallCore
import DTLS
import PeerSession
import SimNet
import Testing

@testable import LivePeer
@testable import VirtualPeer

/// One machine, two drivers: what a peer of the simulator was given is given to the socket driver, with a scripted
/// clock and scripted sockets, and what comes out must be the same bytes at the same times.
@Suite struct TwoDriversTests {
  @Test(arguments: [true, false])
  func `the socket driver writes the simulator driver's transcript, byte for byte`(isOfferer: Bool) throws {
    let call = try SimulatedCall(isRecordedOfferer: isOfferer)
    call.run()
    let replay = try Replay(of: call)
    replay.run()
    Self.compare(call.transcript.lines, replay.transcript.lines)
    Self.compare(call.transcript.events, replay.transcript.events)
    // A call of three seconds has ICE, DTLS, and fifty packets a second.
    #expect(call.transcript.lines.count { $0.contains(" sends ") } > 150)
    #expect(call.transcript.lines.count { $0.contains(" hears ") } > 100)
    #expect(call.transcript.events.contains { $0.contains("connectionStateChange") && $0.contains("connected") })
  }

  private static func compare(_ simulated: [String], _ live: [String]) {
    let difference = zip(simulated, live).first { $0 != $1 }
    #expect(difference == nil, "\(difference.map { "simulator: \($0.0)\nsockets:   \($0.1)" } ?? "")")
    #expect(simulated.count == live.count)
  }
}

/// What came out of a driver, and when.
final class Transcript {
  /// Packets, descriptions, statistics and sound.
  private(set) var lines: [String] = []
  /// What the session told: when within an instant its owner hears of it is the driver's affair.
  private(set) var events: [String] = []

  func sent(_ datagram: RawSpan, from local: Endpoint, to remote: Endpoint, at now: Instant) {
    lines.append("\(now) sends \(local) \(remote) \(Self.text(datagram))")
  }

  func heard(_ samples: Span<Int16>, at now: Instant) {
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    for index in samples.indices {
      digest = (digest ^ UInt64(UInt16(bitPattern: samples[index]))) &* 0x0000_0100_0000_01B3
    }
    lines.append("\(now) hears \(samples.count) \(digest)")
  }

  func event(_ event: SessionEvent, at now: Instant) { events.append("\(now) \(event)") }

  func note(_ text: String, at now: Instant) { lines.append("\(now) \(text)") }

  private static func text(_ bytes: RawSpan) -> String {
    bytes.withUnsafeBytes { $0.map { String($0, radix: 16) }.joined(separator: ".") }
  }
}

/// What a driver was given, in order.
enum Input {
  case addAudio
  case createOffer
  case createAnswer
  case remoteDescription(SessionDescriptionText)
  case candidate(String?, mid: String, mLineIndex: Int)
  case datagram([UInt8], from: Endpoint)
  case statistics
  case close
}
