import CallCore
import DTLS
import ICE
import StackWorlds
import Testing

@testable import PeerSession

/// RFC 7983 section 7: the first byte of a datagram decides which protocol gets it.
@Suite struct DemultiplexingTests {
  private enum Owner: Equatable { case stun, zrtp, dtls, channelData, media, none }

  private static func owner(of byte: UInt8) -> Owner {
    switch byte {
    case 0...3: .stun
    case 16...19: .zrtp
    case 20...63: .dtls
    case 64...79: .channelData
    case 128...191: .media
    default: .none
    }
  }

  @Test func `every first byte reaches its protocol and no other`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    let side = pair.b
    let path = Path(local: side.interface.socket, remote: pair.a.interface.socket)
    for byte in UInt8.min ... .max {
      let before = (side.session.ice.counters.malformed, side.session.dtls.statistics.datagramsReceived)
      side.observations = []
      let datagram = [byte] + [UInt8](repeating: 0, count: 199)
      side.session.receive(datagram.span.bytes, on: path, at: pair.now)
      pair.drain(side)
      var words: [String] = []
      for case .packetDiscarded(let what, _) in side.observations { words.append("\(what)") }
      let stun = side.session.ice.counters.malformed - before.0
      let dtls = side.session.dtls.statistics.datagramsReceived - before.1
      switch Self.owner(of: byte) {
      case .stun: #expect(stun == 1 && dtls == 0 && words == [], "\(byte)")
      case .dtls: #expect(stun == 0 && dtls == 1 && words == [], "\(byte)")
      case .media: #expect(stun == 0 && dtls == 0 && words == ["srtp-authentication"], "\(byte)")
      // ChannelData comes from TURN servers, and the peer is none.
      case .zrtp, .channelData, .none:
        #expect(stun == 0 && dtls == 0 && words == ["unknown-protocol"], "\(byte)")
      }
    }
    #expect(side.session.connectionState == .connected)
  }

  /// RFC 5761 section 4: payload types 64 to 95 with the marker bit would look like RTCP, and are RTCP.
  @Test func `the second byte tells RTCP from RTP`() throws {
    let pair = SessionPair { $0.protection = .none }
    try pair.negotiate()
    pair.run(for: .seconds(1))
    let path = Path(local: pair.b.interface.socket, remote: pair.a.interface.socket)
    for second in UInt8.min ... .max {
      pair.b.observations = []
      // As RTCP a packet of eight bytes without a second one; as RTP one of no known source nor payload type.
      let datagram: [UInt8] = [0x80, second, 0, 1, 0, 0, 0, 9, 0, 0, 0, 9]
      pair.b.session.receive(datagram.span.bytes, on: path, at: pair.now)
      pair.drain(pair.b)
      let isRTP = pair.b.observations.contains { event in
        switch event {
        case .mediaReceived: true
        case .packetDiscarded(let what, _): "\(what)".hasPrefix("rtp-unknown")
        default: false
        }
      }
      #expect(isRTP == !(192...223).contains(second), "\(second)")
    }
  }
}
