import CallCore
import StackWorlds
import Testing

@testable import ICE
@testable import PeerSession

/// When a lost flight of DTLS is sent again: after two round trips of the pair in use, and then after twice that.
///
/// The network loses every datagram of DTLS, and the tests carry flights by hand, so that one begins when they want it.
@Suite struct HandshakeTimerTests {
  private let pair: SessionPair
  private let hello: SessionPair.Sent
  private static let far = IPAddress("198.51.100.44")!

  /// A call between a device with two interfaces, of which one is far away, and one with a single interface.
  init() throws {
    pair = SessionPair { $0.ice.prunesPairs = false }
    pair.a.bringUp("\(Self.far)", at: .zero)
    pair.delayOf = { Self.isFar($0) ? .milliseconds(200) : nil }
    pair.drops = { $0.isDTLS }
    try pair.negotiate()
    pair.run(for: .milliseconds(100), talking: false)
    hello = try #require(pair.sent.first { $0.isDTLS })
  }

  private static func isFar(_ path: Path) -> Bool { [path.local.address, path.remote.address].contains(far) }

  private var client: SessionPair.Side { hello.fromA ? pair.a : pair.b }
  private var server: SessionPair.Side { hello.fromA ? pair.b : pair.a }

  /// Hands a side a flight, and gives the one that it answers with.
  private func carry(_ flight: [SessionPair.Sent], to side: SessionPair.Side) -> [SessionPair.Sent] {
    let count = pair.sent.count
    for datagram in flight {
      side.session.receive(datagram.bytes.span.bytes, on: datagram.path.reversed, at: pair.now)
    }
    pair.drain(side)
    return pair.sent[count...].filter(\.isDTLS)
  }

  /// How long a side waits, once and again, for the answer to the flight that it answers this one with.
  private func waits(of side: SessionPair.Side, after flight: [SessionPair.Sent]) throws -> [Interval] {
    let begin = pair.now
    try #require(!carry(flight, to: side).isEmpty)
    let count = pair.sent.count
    pair.run(for: .seconds(2), talking: false)
    let repeated = pair.sent[count...].filter { $0.isDTLS && $0.fromA == (side === pair.a) }.map(\.time)
    let times = repeated.reduce(into: [begin]) { if $0.last != $1 { $0.append($1) } }
    try #require(times.count > 2)
    return [times[1] - times[0], times[2] - times[1]]
  }

  @Test(arguments: [true, false])
  func `the timer goes by the pair in use, whichever pair answered last`(isServers: Bool) throws {
    let side = isServers ? server : client
    let flight = isServers ? [hello] : carry([hello], to: server)
    func lastAnswered() -> ICECandidatePair? {
      side.session.ice.pairs.max { ($0.lastResponseAt ?? .zero) < ($1.lastResponseAt ?? .zero) }
    }
    while lastAnswered().map({ !Self.isFar($0.path) }) ?? true, pair.now < .zero + .seconds(10) {
      pair.run(for: .milliseconds(5), talking: false)
    }
    let selected = side.session.ice.selectedPair
    #expect(try Self.isFar(#require(lastAnswered()).path) && !Self.isFar(#require(selected).path))
    #expect(try waits(of: side, after: flight) == [.milliseconds(80), .milliseconds(160)])
  }

  @Test func `the timer follows the round trip of the pair in use`() throws {
    pair.delay = .milliseconds(60)
    pair.run(for: .seconds(20), talking: false)
    let selected = server.session.ice.selectedPair
    let expected = try #require(selected?.smoothedRoundTripTime) * 2
    #expect(expected > .milliseconds(200))
    let wait = try waits(of: server, after: [hello])[0]
    #expect(wait >= expected - .milliseconds(1) && wait <= expected + .milliseconds(1))
  }
}
