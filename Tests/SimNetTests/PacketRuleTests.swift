import CallCore
import Testing

@testable import SimNet

@Suite struct PacketRuleTests {
  private static let binding: [UInt8] = [0, 1] + [UInt8](repeating: 0, count: 18)
  private static let dtls: [UInt8] = [22, 0xFE, 0xFD] + [UInt8](repeating: 0, count: 20)
  private static let rtp: [UInt8] = [0x80, 111] + [UInt8](repeating: 0, count: 10)
  private static let rtcp: [UInt8] = [0x80, 200] + [UInt8](repeating: 0, count: 26)
  private static let allocate: [UInt8] = [0, 3] + [UInt8](repeating: 0, count: 18)
  private static let channelData: [UInt8] = [0x40, 0, 0, 12] + rtp
  /// A Send indication with an empty unknown attribute of odd length before its DATA.
  private static let sendIndication: [UInt8] =
    [0, 0x16] + [UInt8](repeating: 0, count: 18) + [0x80, 0x22, 0, 1, 0, 0, 0, 0, 0, 0x13, 0, 23] + dtls

  @Test func `content is told from the first bytes`() {
    let all: [([UInt8], PacketContent)] = [
      (Self.binding, .stun), ([1, 1] + Self.binding.dropFirst(2), .stun), (Self.allocate, .turn), (Self.dtls, .dtls),
      ([22, 3, 3, 0, 90], .tls), ([23, 3, 3, 1, 0], .tls), ([20, 3, 3, 0, 1, 1], .tls), ([23], .dtls),
      (Self.rtp, .rtp), (Self.rtcp, .rtcp), (Self.channelData, .turn), (Self.sendIndication, .turn), ([], .other),
      ([0xFF], .other), ([0], .stun), ([0x80], .rtp),
    ]
    for (bytes, expected) in all {
      let content = PacketContent(bytes.span.bytes)
      #expect(content == expected)
    }
  }

  @Test func `a rule sees through a relay`() {
    let isRTP = PacketContent.matches(Self.channelData.span.bytes, .rtp)
    let isDTLS = PacketContent.matches(Self.sendIndication.span.bytes, .dtls)
    let isRTCP = PacketContent.matches(Self.channelData.span.bytes, .rtcp)
    #expect(isRTP && isDTLS && !isRTCP)
    // Cut anywhere, nothing traps.
    for count in 0..<Self.sendIndication.count {
      let cut = Array(Self.sendIndication.prefix(count))
      let matches = PacketContent.matches(cut.span.bytes, .dtls)
      #expect(!matches)
    }
  }

  @Test func `padding after ChannelData is none of what it carries`() {
    for padding in 0...3 {
      let bytes = Self.channelData + [UInt8](repeating: 0, count: padding)
      #expect(
        PacketContent.range(of: .rtp, in: bytes.span.bytes) == 4..<16
          && PacketContent.relayed(in: bytes.span.bytes) == 4..<16)
    }
    let short = Self.channelData.dropLast()
    #expect(PacketContent.range(of: .rtp, in: Array(short).span.bytes) == nil)
  }

  /// A handshake record that begins with a message of `type`, as long as a ClientHello without a cookie.
  private static func handshake(_ type: UInt8, cookie: UInt8 = 0) -> [UInt8] {
    let header: [UInt8] = [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 60, type]
    return header + [UInt8](repeating: 0, count: 11 + 2 + 32) + [0, cookie] + [UInt8](repeating: 7, count: Int(cookie))
  }

  @Test func `the flights of a handshake are told apart by what is in them and who sent them`() throws {
    let (a, b) = (HostID(index: 0), HostID(index: 1))
    let changeCipherSpec: [UInt8] = [20, 0xFE, 0xFD] + [UInt8](repeating: 0, count: 11)
    let finished: [UInt8] = [22, 0xFE, 0xFD, 0, 1] + [UInt8](repeating: 0, count: 40)
    let said: [(HostID, [UInt8], Int?)] = [
      (a, Self.handshake(1), 1), (b, Self.handshake(3), 2), (a, Self.handshake(1, cookie: 20), 3),
      (b, Self.handshake(2), 4), (b, Self.handshake(11), 4), (a, Self.handshake(11), 5), (a, Self.handshake(16), 5),
      (a, changeCipherSpec, 5), (a, finished, 5), (b, Self.handshake(4), 6), (b, changeCipherSpec, 6),
      (b, finished, 6), (a, [21, 0xFE, 0xFD] + [UInt8](repeating: 0, count: 12), nil), (a, Self.rtp, nil),
    ]
    var handshakes = DTLSHandshakes()
    for (sender, bytes, expected) in said {
      handshakes.learn(bytes.span.bytes, from: sender)
      let flight = handshakes.flight(of: bytes.span.bytes, from: sender)
      #expect(flight == expected)
    }
    for count in 0..<Self.handshake(1, cookie: 20).count {
      let cut = Array(Self.handshake(1, cookie: 20).prefix(count))
      handshakes.learn(cut.span.bytes, from: a)
      _ = handshakes.flight(of: cut.span.bytes, from: a)
    }
  }

  @Test func `a rule for a flight leaves the others alone`() throws {
    let pair = try Pair()
    pair.simulator.addRule(PacketRule(content: .dtls, flight: 4, limit: 1))
    for bytes in [Self.handshake(1), Self.handshake(16)] {
      pair.simulator.send(bytes, from: pair.aSocket, to: pair.bEndpoint)
    }
    pair.simulator.send(Self.handshake(14), from: pair.aSocket, to: pair.bEndpoint)
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.b.arrivals.map { $0.bytes[13] } == [1, 16])
  }

  @Test func `a rule that begins within a handshake knows who is its client`() throws {
    let pair = try Pair()
    let relayed: [UInt8] = [0x40, 0, 0, 60] + Self.handshake(1)
    for (hello, name) in [(Self.handshake(1), "direct"), (relayed, "relayed")] {
      pair.simulator.send(hello, from: pair.aSocket, to: pair.bEndpoint)
      pair.simulator.run(until: pair.simulator.now + .seconds(1))
      let rule = pair.simulator.addRule(PacketRule(content: .dtls, flight: 5))
      let before = pair.b.arrivals.count
      pair.simulator.send(Self.handshake(11), from: pair.aSocket, to: pair.bEndpoint)
      pair.simulator.run(until: pair.simulator.now + .seconds(1))
      #expect(pair.b.arrivals.count == before, "\(name)")
      pair.simulator.removeRule(rule)
      // It is the server that says ServerHello.
      pair.simulator.send(Self.handshake(2), from: pair.aSocket, to: pair.bEndpoint)
      pair.simulator.run(until: pair.simulator.now + .seconds(1))
    }
  }

  @Test func `a rule drops the n-th of its kind and then is spent`() throws {
    let pair = try Pair()
    let drops = Drops(pair.simulator.trace)
    pair.simulator.addRule(PacketRule(content: .rtp, sender: pair.aHost, skip: 1, limit: 2))
    for tag in 0..<4 as Range<UInt8> {
      for bytes in [Self.dtls, Self.rtp + [tag]] {
        pair.simulator.send(bytes, from: pair.aSocket, to: pair.bEndpoint)
      }
    }
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(drops.reasons == ["rule", "rule"])
    let isSpent = pair.simulator.fabric.rules.isEmpty
    #expect(isSpent)
    #expect(pair.b.arrivals.count == 6)
    #expect(pair.b.arrivals.compactMap { $0.bytes.count == 13 ? $0.bytes.last : nil } == [0, 3])
  }

  @Test func `every rule counts what it matches, and the oldest that would drop a packet does`() {
    let (a, b) = (HostID(index: 0), HostID(index: 1))
    var rules = PacketRules()
    let ids = [
      PacketRule(content: .rtp, sender: a, limit: 3), PacketRule(content: .rtp, skip: 4, limit: 1),
      PacketRule(sender: a, skip: 1, limit: 1), PacketRule(receiver: b, skip: 1, limit: 1),
    ].map { rules.add($0) }
    let drops = (1...7 as ClosedRange<UInt8>).map { number -> [Bool] in
      let packet = Array(Self.rtp.dropLast() + [number])
      if rules.drop(packet.span.bytes, from: a, to: nil) { return [true] }
      return [false, rules.drop(packet.span.bytes, from: a, to: b)]
    }
    // The first three, the fifth, and the second of those that come to b.
    #expect(drops == [[true], [true], [true], [false, false], [true], [false, true], [false, false]])
    let counts = ids.map { [rules.dropCount(of: $0), rules.forestalledCount(of: $0)] }
    #expect(counts == [[3, 0], [1, 0], [0, 1], [1, 0]])
    let isEmpty = rules.isEmpty
    #expect(isEmpty)
  }

  @Test func `a rule with a receiver holds for what reaches it only, until it is removed`() throws {
    let pair = try Pair()
    let rule = pair.simulator.addRule(PacketRule(receiver: pair.bHost))
    pair.send(1)
    pair.simulator.send([2], from: pair.bSocket, to: pair.aEndpoint)
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.a.tags == [2])
    #expect(pair.b.tags == [])
    pair.simulator.removeRule(rule)
    pair.send(3)
    pair.simulator.run(until: .zero + .seconds(2))
    #expect(pair.b.tags == [3])
  }

  /// What a relay does with the rules: `a` gives it a packet in a ChannelData message, and it sends that to `b` bare.
  @Test func `a rule with both ends meets what comes through a relay, once`() {
    let (a, relay, b) = (HostID(index: 0), HostID(index: 1), HostID(index: 2))
    var rules = PacketRules()
    let rule = rules.add(PacketRule(content: .rtp, sender: a, receiver: b, limit: 1))
    let strange = rules.add(PacketRule(content: .rtp, sender: b, receiver: a))
    let forwarder = rules.add(PacketRule(content: .rtp, sender: relay, receiver: b, skip: 1))
    func carry(_ number: UInt8) -> [Bool] {
      let packet = Array(Self.rtp.dropLast() + [number])
      let message = Array(Self.channelData.prefix(4) + packet)
      return [
        rules.drop(message.span.bytes, from: a, to: nil), rules.drop(message.span.bytes, from: a, to: relay),
        rules.drop(packet.span.bytes, from: relay, to: nil), rules.drop(packet.span.bytes, from: relay, to: b),
      ]
    }
    let runs = [carry(1), carry(2), carry(3)]
    // The third rule counts the first packet, which the first rule drops.
    #expect(runs == [[false, false, false, true], [false, false, false, true], [false, false, false, true]])
    let counts = [rule, strange, forwarder].map { rules.dropCount(of: $0) }
    #expect(counts == [1, 0, 2])
  }

  @Test func `a rule without ends counts a packet once, and not again at each relay`() {
    let (a, relay, b) = (HostID(index: 0), HostID(index: 1), HostID(index: 2))
    var rules = PacketRules()
    let second = rules.add(PacketRule(content: .rtp, skip: 1, limit: 1))
    for number in 1...3 as ClosedRange<UInt8> {
      let packet = Array(Self.rtp.dropLast() + [number])
      let drops = [(a, nil), (a, relay), (relay, nil), (relay, b)].map { (sender: HostID, receiver: HostID?) in
        rules.drop(packet.span.bytes, from: sender, to: receiver)
      }
      #expect(drops == [number == 2, false, false, false])
    }
    let count = rules.dropCount(of: second)
    #expect(count == 1)
  }

  @Test func `the flights of a handshake keep their numbers through a relay`() {
    let (a, relay, b) = (HostID(index: 0), HostID(index: 1), HostID(index: 2))
    var rules = PacketRules()
    let fifth = rules.add(PacketRule(content: .dtls, flight: 5, receiver: b))
    // ClientHello and ServerHello, each through the relay, then the client's Finished.
    let finished: [UInt8] = [22, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 0, 0, 4, 1, 2, 3, 4]
    for (bytes, from, to) in [(Self.handshake(1), a, b), (Self.handshake(2), b, a), (finished, a, b)] {
      for (sender, receiver) in [(from, nil), (from, relay), (relay, nil), (relay, to)] as [(HostID, HostID?)] {
        let isDropped = rules.drop(bytes.span.bytes, from: sender, to: receiver)
        #expect(isDropped == (receiver == b && bytes == finished))
      }
    }
    let count = rules.dropCount(of: fifth)
    #expect(count == 1)
  }

  @Test func `only the newest packets are remembered, and only of hosts that had them`() {
    let (a, relay, b) = (HostID(index: 0), HostID(index: 1), HostID(index: 2))
    var origins = RelayedOrigins()
    func packet(_ number: Int) -> [UInt8] { [0x80, 111, UInt8(number >> 8), UInt8(number & 0xFF)] }
    for number in 0...RelayedOrigins.capacity { origins.note(packet(number).span.bytes, from: a, to: relay) }
    let (oldest, second, elsewhere) = (packet(0), packet(1), packet(2))
    let found = [
      origins.origin(of: oldest.span.bytes, from: relay), origins.origin(of: second.span.bytes, from: relay),
      origins.origin(of: elsewhere.span.bytes, from: b),
    ]
    #expect(found == [relay, a, b])
  }
}
