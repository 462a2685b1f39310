import CallCore
import DTLS
import SCTP
import StackWorlds
import Statistics
import TURN
import Testing

@testable import PeerSession

/// Data channels between two whole sessions.
@Suite struct DataChannelTests {
  /// A call in which `a` has made a channel before the first offer.
  private static func call(
    data settings: DataChannelInit = DataChannelInit(), audio: Bool = true, ipv6: Bool = false,
    adjust: (inout SessionConfiguration) -> Void = { _ in }
  ) throws -> (pair: SessionPair, channel: DataChannelID) {
    let pair = SessionPair(ipv6: ipv6, adjust: adjust)
    if !audio { for side in [pair.a, pair.b] { try side.session.stop(side.microphone) } }
    let channel = try pair.a.session.createDataChannel("chat", settings, at: pair.now)
    try pair.negotiate()
    pair.run(for: .seconds(2))
    return (pair, channel)
  }

  private static func open(_ side: SessionPair.Side) -> DataChannelID? {
    side.session.dataChannels.first { $0.readyState == .open }?.channel
  }

  // MARK: Opening

  @Test func `a channel opens at both ends, and carries text and bytes both ways`() throws {
    let (pair, ours) = try Self.call()
    let announced = try #require(pair.b.announced.first)
    #expect(announced.label == "chat" && announced.ordered && announced.readyState == .open)
    #expect(pair.a.states(of: ours) == [.open] && pair.b.states(of: announced.channel) == [.open])
    let bytes = [UInt8](0...255)
    for message in [DataChannelMessage.string("héllo"), .binary(bytes), .string(""), .binary([])] {
      try pair.a.session.send(message, on: ours, at: pair.now)
      try pair.b.session.send(message, on: announced.channel, at: pair.now)
    }
    for side in [pair.a, pair.b] { pair.drain(side) }
    pair.run(for: .seconds(1))
    let sent: [DataChannelMessage] = [.string("héllo"), .binary(bytes), .string(""), .binary([])]
    #expect(pair.a.messages(on: ours) == sent && pair.b.messages(on: announced.channel) == sent)
  }

  @Test func `a channel that fails by itself closes at both ends, and another one may follow`() throws {
    let (pair, ours) = try Self.call()
    let theirs = try #require(pair.b.announced.first).channel
    try pair.a.session.send(.string("lost"), on: ours, at: pair.now)
    #expect(pair.b.session.failDataChannels(at: pair.now) == 0, "the other side has opened it")
    #expect(pair.a.session.failDataChannels(at: pair.now) == 1)
    for side in [pair.a, pair.b] { pair.drain(side) }
    pair.run(for: .seconds(1))
    #expect(pair.a.states(of: ours).suffix(2) == [.closing, .closed] && pair.b.states(of: theirs).last == .closed)
    let next = try pair.a.session.createDataChannel("chat", at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(1))
    try pair.a.session.send(.string("again"), on: next, at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(1))
    let announced = try #require(pair.b.announced.last)
    #expect(pair.b.messages(on: announced.channel) == [.string("again")])
  }

  @Test func `data channels need no audio`() throws {
    let (pair, ours) = try Self.call(audio: false)
    #expect(pair.a.session.connectionState == .connected && pair.b.session.connectionState == .connected)
    #expect(pair.a.session.dataChannel(ours)?.readyState == .open)
    #expect(!pair.sent.contains(where: \.isMedia) && pair.hotWakes == 0)
  }

  @Test func `a channel in a running call opens after another negotiation, at either side's wish`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(2))
    pair.b.events = []
    let ours = try pair.b.session.createDataChannel("late", at: pair.now)
    pair.drain(pair.b)
    #expect(pair.b.events.contains { if case .negotiationNeeded = $0 { true } else { false } })
    #expect(pair.b.session.dataChannel(ours)?.readyState == .connecting)
    try pair.negotiate(from: pair.b, to: pair.a)
    pair.run(for: .seconds(1))
    #expect(pair.b.session.dataChannel(ours)?.readyState == .open)
    #expect(pair.a.announced.map(\.label) == ["late"])
    // A further one needs none.
    let next = try pair.a.session.createDataChannel("next", at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(1))
    #expect(pair.a.session.dataChannel(next)?.readyState == .open)
    #expect(pair.b.announced.map(\.label) == ["next"])
  }

  @Test func `the DTLS client numbers its channels evenly, the server oddly`() throws {
    let (pair, ours) = try Self.call()
    let theirs = try pair.b.session.createDataChannel("back", at: pair.now)
    let (client, server) = pair.a.session.dtls.role == .client ? (ours, theirs) : (theirs, ours)
    let (left, right) = pair.a.session.dtls.role == .client ? (pair.a, pair.b) : (pair.b, pair.a)
    #expect(left.session.dataChannel(client)?.id == 0 && right.session.dataChannel(server)?.id == 1)
  }

  @Test func `a channel that both sides agreed on is announced to neither`() throws {
    var settings = DataChannelInit()
    (settings.negotiated, settings.id, settings.ordered) = (true, 7, false)
    let pair = SessionPair()
    let ours = try pair.a.session.createDataChannel("a", settings, at: pair.now)
    let theirs = try pair.b.session.createDataChannel("b", settings, at: pair.now)
    try pair.negotiate()
    pair.run(for: .seconds(2))
    #expect(pair.a.announced.isEmpty && pair.b.announced.isEmpty)
    try pair.a.session.send(.string("x"), on: ours, at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(1))
    #expect(pair.b.messages(on: theirs) == [.string("x")])
  }

  @Test func `the limits of a channel reach the peer`() throws {
    var settings = DataChannelInit()
    (settings.ordered, settings.maxRetransmits, settings.protocolName) = (false, 3, "game")
    let (pair, _) = try Self.call(data: settings)
    let announced = try #require(pair.b.announced.first)
    #expect(!announced.ordered && announced.maxRetransmits == 3 && announced.protocolName == "game")
  }

  // MARK: Transport

  @Test(arguments: [false, true])
  func `a message of 256 KiB arrives whole, in datagrams of at most 1225 bytes`(ipv6: Bool) throws {
    let (pair, ours) = try Self.call(ipv6: ipv6)
    let message = DataChannelMessage.binary((0..<262_144).map { UInt8(truncatingIfNeeded: $0 * 7) })
    try pair.a.session.send(message, on: ours, at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(20))
    #expect(pair.b.messages(on: try #require(Self.open(pair.b))) == [message])
    // An SCTP packet of at most 1191 bytes, a multiple of four, and a DTLS record of AES-GCM around it.
    #expect(pair.sent.filter(\.isDTLS).map(\.bytes.count).max() == 1_188 + 13 + 8 + 16)
    #expect(pair.hotWakes == 0)
  }

  @Test func `over a relay the longest datagram fits the least link of IPv6`() throws {
    let pair = SessionPair(ipv6: true) {
      $0.iceServers = [SessionPair.turnIPv6]
      $0.iceTransportPolicy = .relay
    }
    pair.startServer { $0.relays = [.init(SessionPair.turnServerIPv6.address)] }
    let ours = try pair.a.session.createDataChannel("chat", at: pair.now)
    try pair.negotiate()
    pair.run(for: .seconds(1))
    try pair.exchangeCandidates()
    pair.run(for: .seconds(5))
    #expect(pair.a.session.dataChannel(ours)?.readyState == .open)
    let message = DataChannelMessage.binary([UInt8](repeating: 1, count: 20_000))
    try pair.a.session.send(message, on: ours, at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(10))
    #expect(pair.b.messages(on: try #require(Self.open(pair.b))) == [message])
    // 1280 without the headers of IPv6 and UDP.
    #expect(try #require(pair.sent.map(\.bytes.count).max()) <= 1_280 - 40 - 8)
  }

  @Test func `lost packets are sent again, and messages stay in order`() throws {
    let (pair, ours) = try Self.call()
    var count = 0
    pair.drops = { sent in
      guard sent.isDTLS else { return false }
      count += 1
      return count % 5 == 0
    }
    let messages = (0..<200).map { DataChannelMessage.string("message \($0)") }
    for message in messages { try pair.a.session.send(message, on: ours, at: pair.now) }
    pair.drain(pair.a)
    pair.run(for: .seconds(30))
    #expect(pair.b.messages(on: try #require(Self.open(pair.b))) == messages)
  }

  @Test func `a channel survives an ICE restart`() throws {
    let (pair, ours) = try Self.call()
    try pair.restart(from: pair.a, to: pair.b)
    pair.run(for: .seconds(3))
    try pair.a.session.send(.string("still here"), on: ours, at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(1))
    #expect(pair.b.messages(on: try #require(Self.open(pair.b))) == [.string("still here")])
  }

  @Test func `the same seed sends the same bytes`() throws {
    func bytes() throws -> [[UInt8]] {
      let (pair, ours) = try Self.call()
      try pair.a.session.send(.string("hello"), on: ours, at: pair.now)
      pair.drain(pair.a)
      pair.run(for: .seconds(1))
      return pair.sent.map(\.bytes)
    }
    #expect(try bytes() == bytes())
  }

  @Test func `a call without channels has no transport for them`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(2))
    #expect(pair.a.session.data == nil && pair.b.session.data == nil)
    #expect(pair.a.session.statistics(at: pair.now).first("sctp-transport") == nil)
  }

  // MARK: Sending

  @Test func `what is buffered falls to the threshold once`() throws {
    let (pair, ours) = try Self.call()
    pair.a.session.setBufferedAmountLowThreshold(10_000, of: ours)
    try pair.a.session.send(.binary([UInt8](repeating: 0, count: 100_000)), on: ours, at: pair.now)
    #expect(pair.a.session.dataChannel(ours)?.bufferedAmount == 100_000)
    pair.drain(pair.a)
    pair.run(for: .seconds(10))
    let low = pair.a.events.count { if case .dataChannelBufferedAmountLow(ours) = $0 { true } else { false } }
    #expect(low == 1 && pair.a.session.dataChannel(ours)?.bufferedAmount == 0)
  }

  @Test func `a message larger than the peer accepts is a TypeError`() throws {
    let (pair, ours) = try Self.call()
    let error = #expect(throws: SessionError.self) {
      try pair.a.session.send(.binary([UInt8](repeating: 0, count: 262_145)), on: ours, at: pair.now)
    }
    #expect(error?.name == "TypeError")
  }

  @Test func `a channel that is not open sends nothing`() throws {
    let pair = SessionPair()
    let ours = try pair.a.session.createDataChannel("chat", at: pair.now)
    let early = #expect(throws: SessionError.self) {
      try pair.a.session.send(.string("x"), on: ours, at: pair.now)
    }
    #expect(early?.name == "InvalidStateError")
    pair.a.session.closeDataChannel(ours, at: pair.now)
    let late = #expect(throws: SessionError.self) { try pair.a.session.send(.string("x"), on: ours, at: pair.now) }
    #expect(late?.name == "InvalidStateError")
  }

  @Test func `settings that W3C refuses are refused with its errors`() throws {
    let pair = SessionPair()
    func error(_ label: String = "", _ change: (inout DataChannelInit) -> Void = { _ in }) -> String? {
      var settings = DataChannelInit()
      change(&settings)
      do throws(SessionError) {
        _ = try pair.a.session.createDataChannel(label, settings, at: pair.now)
        return nil
      } catch {
        return error.name
      }
    }
    #expect(error(String(repeating: "x", count: 65_536)) == "TypeError")
    #expect(error { $0.protocolName = String(repeating: "x", count: 65_536) } == "TypeError")
    #expect(error { ($0.maxRetransmits, $0.maxPacketLifeTime) = (1, 1) } == "TypeError")
    #expect(error { $0.negotiated = true } == "TypeError")
    #expect(error { ($0.negotiated, $0.id) = (true, 65_535) } == "TypeError")
    #expect(error { ($0.negotiated, $0.id) = (true, 65_534) } == "OperationError")
    #expect(error { ($0.negotiated, $0.id) = (true, 5) } == nil)
    #expect(error { ($0.negotiated, $0.id) = (true, 5) } == "OperationError")
    pair.a.session.close(at: pair.now)
    #expect(error() == "InvalidStateError")
  }

  @Test func `a stack without data channels makes none`() throws {
    let pair = SessionPair { $0.dataChannels = false }
    let error = #expect(throws: SessionError.self) { try pair.a.session.createDataChannel("x", at: pair.now) }
    #expect(error?.name == "NotSupportedError")
  }

  // MARK: Closing

  @Test func `a closed channel delivers what was sent, and closes at both ends`() throws {
    let (pair, ours) = try Self.call()
    let theirs = try #require(Self.open(pair.b))
    try pair.a.session.send(.string("last"), on: ours, at: pair.now)
    pair.a.session.closeDataChannel(ours, at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(2))
    #expect(pair.b.messages(on: theirs) == [.string("last")])
    #expect(pair.a.states(of: ours) == [.open, .closing, .closed])
    #expect(pair.b.states(of: theirs) == [.open, .closing, .closed])
    let peer = pair.a.session.statistics(at: pair.now).first("peer-connection")
    #expect(peer?["dataChannelsOpened"] == .integer(1) && peer?["dataChannelsClosed"] == .integer(1))
    #expect(pair.a.session.dataChannels.isEmpty && pair.b.session.dataChannels.isEmpty)
  }

  @Test func `a session that closes ends the channels of its peer with an error`() throws {
    let (pair, _) = try Self.call()
    let theirs = try #require(Self.open(pair.b))
    pair.a.session.close(at: pair.now)
    pair.drain(pair.a)
    #expect(pair.a.session.dataChannels.isEmpty)
    pair.run(for: .seconds(1))
    #expect(pair.b.states(of: theirs) == [.open, .closed])
    let failures = pair.b.events.compactMap { if case .dataChannelError(_, let reason) = $0 { reason } else { nil } }
    #expect(failures == ["the peer has aborted the association"])
    #expect(pair.b.session.dtlsState == .closed && pair.hotWakes == 0)
  }

  @Test func `channels end with DTLS even if SCTP's end was lost`() throws {
    let (pair, _) = try Self.call()
    let theirs = try #require(Self.open(pair.b))
    // The ABORT is longer than an alert.
    pair.drops = { $0.fromA && $0.isDTLS && $0.bytes[0] == 23 }
    pair.a.session.close(at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(1))
    #expect(pair.b.states(of: theirs) == [.open, .closed] && pair.b.session.dtlsState == .closed)
  }

  @Test func `a peer that rejects data channels closes them, and the call goes on`() throws {
    let pair = SessionPair()
    pair.replaceB { $0.dataChannels = false }
    let ours = try pair.a.session.createDataChannel("chat", at: pair.now)
    try pair.negotiate()
    pair.run(for: .seconds(2))
    #expect(pair.a.states(of: ours) == [.closed] && pair.a.session.connectionState == .connected)
    #expect(pair.a.session.dataChannels.isEmpty && pair.a.mediaReceived > 0)
    // Another one asks again.
    pair.a.events = []
    let next = try pair.a.session.createDataChannel("again", at: pair.now)
    pair.drain(pair.a)
    #expect(next != ours && pair.a.events.contains { if case .negotiationNeeded = $0 { true } else { false } })
  }

  // MARK: Statistics

  @Test func `statistics count messages, and describe the association`() throws {
    let (pair, ours) = try Self.call()
    for text in ["one", "three"] { try pair.a.session.send(.string(text), on: ours, at: pair.now) }
    pair.drain(pair.a)
    pair.run(for: .seconds(1))
    let (left, right) = (pair.a.session.statistics(at: pair.now), pair.b.session.statistics(at: pair.now))
    let sent = try #require(left.first("data-channel"))
    #expect(sent["label"] == .text("chat") && sent["protocol"] == .text("") && sent["state"] == .text("open"))
    #expect(sent["messagesSent"] == .integer(2) && sent["bytesSent"] == .integer(8))
    let received = try #require(right.first("data-channel"))
    #expect(received["messagesReceived"] == .integer(2) && received["bytesReceived"] == .integer(8))
    #expect(received["dataChannelIdentifier"] == sent["dataChannelIdentifier"])
    let transport = try #require(left.first("sctp-transport"))
    #expect(transport["transportId"] == .text("T") && transport["mtu"] == .integer(1_191))
    guard case .real(let roundTrip)? = transport["smoothedRoundTripTime"] else {
      Issue.record("no round trip")
      return
    }
    #expect((0.04...0.3).contains(roundTrip))
  }
}

extension SessionPair.Side {
  /// The channels that the peer has opened, as they were announced.
  fileprivate var announced: [DataChannelSnapshot] {
    events.compactMap { if case .dataChannel(let channel) = $0 { channel } else { nil } }
  }

  fileprivate func states(of id: DataChannelID) -> [DataChannelState] {
    events.compactMap { if case .dataChannelStateChange(id, let state) = $0 { state } else { nil } }
  }

  fileprivate func messages(on id: DataChannelID) -> [DataChannelMessage] {
    events.compactMap { if case .dataChannelMessage(id, let message) = $0 { message } else { nil } }
  }
}
