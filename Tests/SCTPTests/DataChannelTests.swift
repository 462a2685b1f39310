import CallCore
import SCTP
import Testing

@Suite struct DataChannelTests {
  typealias World = SCTPWorld<SCTPTransport>

  /// Opens a channel on the left and returns its names on both sides.
  func open(
    _ parameters: DataChannelParameters = DataChannelParameters(label: "chat"), in world: World
  ) throws -> (left: DataChannelID, right: DataChannelID) {
    let id = try world.left.open(parameters, at: world.now)
    world.run(for: .milliseconds(100))
    let remote = world.events[1].compactMap { if case .announced(let id) = $0 { id } else { nil } }.last
    return (id, try #require(remote))
  }

  @Test func `a channel opened before the start is announced to the peer with its parameters`() throws {
    let world = World.transports(isStarted: false)
    let parameters = DataChannelParameters(
      label: "chat", protocolName: "p", isOrdered: false, maximumRetransmits: 2, priority: 512)
    let id = try world.left.open(parameters, at: .zero)
    #expect(world.left.state(of: id) == .connecting)
    #expect(world.left.stream(of: id) == nil)
    world.connect()
    world.run(for: .seconds(1))
    #expect(world.events[0] == [.transportStateChanged(.connected), .stateChanged(id, .open)])
    let remote = try #require(world.right.channelIDs.first)
    #expect(
      world.events[1] == [.transportStateChanged(.connected), .announced(remote), .stateChanged(remote, .open)])
    #expect(world.right.parameters(of: remote) == parameters)
    #expect(world.left.stream(of: id) == 0)
    #expect(world.right.stream(of: remote) == 0)
  }

  @Test func `the DTLS client takes even streams and the server odd ones`() throws {
    let world = World.transports()
    let left = try (0..<3).map { _ in try world.left.open(DataChannelParameters(), at: world.now) }
    let right = try (0..<3).map { _ in try world.right.open(DataChannelParameters(), at: world.now) }
    #expect(left.map { world.left.stream(of: $0) } == [0, 2, 4])
    #expect(right.map { world.right.stream(of: $0) } == [1, 3, 5])
  }

  @Test func `strings, bytes and empty messages arrive as they were sent`() throws {
    let world = World.transports()
    let (left, right) = try open(in: world)
    let messages: [DataChannelMessage] = [
      .string("hé"), .binary([1, 2]), .string(""), .binary([]), .string("\u{0}"), .binary([0]),
    ]
    for message in messages {
      try world.left.send(message, on: left, at: world.now)
      try world.right.send(message, on: right, at: world.now)
    }
    world.run(for: .seconds(1))
    #expect(world.messages(.left) == messages)
    #expect(world.messages(.right) == messages)
    let found = world.left.statistics(of: left)
    let statistics = try #require(found)
    #expect(statistics.messagesSent == 6)
    #expect(statistics.bytesSent == 7)
    #expect(statistics.messagesReceived == 6)
    #expect(statistics.bytesReceived == 7)
    #expect(statistics.dataChannelIdentifier == 0)
    #expect(statistics.label == "chat")
  }

  @Test func `messages are sent at once, before the peer has acknowledged the channel`() throws {
    let world = World.transports()
    let id = try world.left.open(DataChannelParameters(isOrdered: false), at: world.now)
    try world.left.send(.string("first"), on: id, at: world.now)
    world.run(for: .milliseconds(11))
    #expect(world.messages(.right) == [.string("first")])
    // Not unordered, or it might pass the OPEN.
    let data = world.sent[0].flatMap { chunks(of: $0) }.compactMap {
      if case .data(let chunk) = $0 { chunk.flags.contains(.unordered) } else { nil }
    }
    #expect(data == [false, false])
    world.run(for: .milliseconds(100))
    world.sent = [[], []]
    try world.left.send(.string("second"), on: id, at: world.now)
    world.run(for: .milliseconds(100))
    let later = world.sent[0].flatMap { chunks(of: $0) }.compactMap {
      if case .data(let chunk) = $0 { chunk.flags.contains(.unordered) } else { nil }
    }
    #expect(later == [true])
  }

  @Test func `a negotiated channel opens without messages`() throws {
    let world = World.transports(isStarted: false)
    let parameters = DataChannelParameters(label: "n", negotiatedStream: 7)
    let left = try world.left.open(parameters, at: .zero)
    let right = try world.right.open(parameters, at: .zero)
    world.connect()
    world.run(for: .seconds(1))
    #expect(world.left.state(of: left) == .open)
    #expect(world.right.state(of: right) == .open)
    #expect(!world.sent.joined().flatMap { chunks(of: $0) }.contains { if case .data = $0 { true } else { false } })
    try world.right.send(.string("x"), on: right, at: world.now)
    world.run(for: .seconds(1))
    #expect(world.messages(.left) == [.string("x")])
  }

  @Test func `wrong parameters are refused`() throws {
    let world = World.transports()
    _ = try world.left.open(DataChannelParameters(negotiatedStream: 3), at: world.now)
    func refusal(_ parameters: DataChannelParameters) -> DataChannelError? {
      do throws(DataChannelError) {
        _ = try world.left.open(parameters, at: world.now)
        return nil
      } catch { return error }
    }
    #expect(refusal(DataChannelParameters(negotiatedStream: 3)) == .streamInUse(3))
    #expect(refusal(DataChannelParameters(negotiatedStream: 1_024)) == .streamOutOfRange(1_024))
    #expect(refusal(DataChannelParameters(maximumRetransmits: 1, maximumPacketLifeTime: 1)) == .bothLimits)
    #expect(refusal(DataChannelParameters(label: String(repeating: "x", count: 65_536))) == .nameTooLong)
    for _ in 0..<512 { _ = try world.left.open(DataChannelParameters(), at: world.now) }
    #expect(refusal(DataChannelParameters()) == .noFreeStream)
    world.left.close(at: world.now)
    #expect(refusal(DataChannelParameters()) == .transportClosed)
  }

  @Test func `a message larger than the peer accepts is refused`() throws {
    let world = World.transports()
    let (left, _) = try open(in: world)
    #expect(world.left.maximumMessageSize == 262_144)
    world.left.setRemoteMaximumMessageSize(nil)
    #expect(world.left.maximumMessageSize == 65_536)
    world.left.setRemoteMaximumMessageSize(0)
    #expect(world.left.maximumMessageSize == 262_144)
    world.left.setRemoteMaximumMessageSize(1_000)
    #expect(throws: DataChannelError.messageTooLarge(limit: 1_000)) {
      try world.left.send(.binary(payload(1_001)), on: left, at: world.now)
    }
    try world.left.send(.binary(payload(1_000)), on: left, at: world.now)
  }

  @Test func `the buffered amount falls as messages leave, and its threshold is reported once`() throws {
    var configuration = SCTPTransport.Configuration()
    configuration.maximumBufferedAmount = 250_000
    let world = World.transports(configuration: configuration)
    let (left, _) = try open(in: world)
    world.left.setBufferedAmountLowThreshold(50_000, of: left)
    for _ in 0..<2 { try world.left.send(.binary(payload(100_000)), on: left, at: world.now) }
    #expect(world.left.bufferedAmount(of: left) == 200_000)
    #expect(throws: DataChannelError.bufferFull) {
      try world.left.send(.binary(payload(100_000)), on: left, at: world.now)
    }
    _ = world.takeEvents(.left)
    let isLow = world.run(within: .seconds(10)) { world.events[0].contains(.bufferedAmountLow(left)) }
    #expect(isLow)
    #expect((45_000...50_000).contains(world.left.bufferedAmount(of: left)))
    world.run(for: .seconds(10))
    #expect(world.left.bufferedAmount(of: left) == 0)
    #expect(world.events[0] == [.bufferedAmountLow(left)])
  }

  // MARK: Closing

  @Test func `a closed channel first sends everything, then both sides close and the stream is free`() throws {
    let world = World.transports()
    world.links[0].loss = 0.1
    let (left, right) = try open(in: world)
    for number in 0..<30 { try world.left.send(.binary(payload(5_000, number: number)), on: left, at: world.now) }
    world.left.close(left, at: world.now)
    #expect(world.left.state(of: left) == .closing)
    #expect(throws: DataChannelError.notOpen(.closing)) {
      try world.left.send(.string("x"), on: left, at: world.now)
    }
    world.run(for: .seconds(30))
    #expect(world.messages(.right).count == 30)
    #expect(world.events[0].last == .stateChanged(left, .closed))
    #expect(world.events[1].suffix(2) == [.stateChanged(right, .closing), .stateChanged(right, .closed)])
    let (next, nextRight) = try open(in: world)
    #expect(world.left.stream(of: next) == 0)
    try world.left.send(.string("again"), on: next, at: world.now)
    world.run(for: .seconds(5))
    #expect(world.events[1].last == .message(nextRight, .string("again")))
    #expect(world.left.statistics.dataChannelsOpened == 2)
    #expect(world.left.statistics.dataChannelsClosed == 1)
  }

  @Test func `both sides close a channel at once`() throws {
    let world = World.transports()
    let (left, right) = try open(in: world)
    world.left.close(left, at: world.now)
    world.right.close(right, at: world.now)
    world.run(for: .seconds(5))
    #expect(world.left.state(of: left) == .closed)
    #expect(world.right.state(of: right) == .closed)
    #expect(world.left.channelIDs.isEmpty)
  }

  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func `channels come and go over a lossy link, and every stream is used again`(seed: UInt64) throws {
    let world = World.transports(seed: seed)
    for side in 0..<2 {
      world.links[side].loss = 0.2
      world.links[side].reordering = 0.2
    }
    for round in 0..<6 {
      let ids = try (0..<3).map { try world.left.open(DataChannelParameters(label: "\(round) \($0)"), at: world.now) }
      for id in ids { try world.left.send(.string("\(id.rawValue)"), on: id, at: world.now) }
      let areOpen = world.run(within: .seconds(60)) { world.right.channelIDs.count == 3 }
      #expect(areOpen)
      let hasArrived = world.run(within: .seconds(60)) { world.messages(.right).count == 3 * (round + 1) }
      #expect(hasArrived)
      world.left.close(ids[0], at: world.now)
      let stream = world.left.stream(of: ids[1])
      if let id = world.right.channelIDs.first(where: { world.right.stream(of: $0) == stream }) {
        world.right.close(id, at: world.now)
      }
      world.left.close(ids[2], at: world.now)
      // Of our own side alone: the peer's may still wait for a response.
      let areClosed = world.run(within: .seconds(60)) { world.left.channelIDs.isEmpty }
      #expect(areClosed)
    }
    world.run(for: .seconds(20))
    #expect(world.right.channelIDs.isEmpty)
    #expect(world.right.statistics.refusedMessages == 0)
    let streams = world.sent[0].flatMap { chunks(of: $0) }.compactMap {
      if case .data(let chunk) = $0 { chunk.stream } else { nil }
    }
    #expect(Set(streams) == [0, 2, 4])
  }

  @Test func `a reset waits for data from before it that is still missing`() throws {
    let world = World.transports()
    let (left, right) = try open(in: world)
    let first = world.sentCount[0]
    world.drops = { side, number, _ in side == .left && number == first }
    try world.left.send(.string("late"), on: left, at: world.now)
    world.drain()
    world.left.close(left, at: world.now)
    world.run(for: .milliseconds(100))
    #expect(world.right.state(of: right) == .open)
    let results = world.sent[1].flatMap { chunks(of: $0) }.flatMap { chunk in
      if case .reconfiguration(let parameters) = chunk { parameters } else { [ReconfigurationParameter]() }
    }
    #expect(
      results.contains { if case .response(_, .inProgress) = $0 { true } else { false } })
    world.run(for: .seconds(5))
    #expect(world.messages(.right) == [.string("late")])
    #expect(world.right.state(of: right) == .closed)
    #expect(world.left.state(of: left) == .closed)
  }

  @Test func `a channel closes at once if the peer knows no resets`() throws {
    var configuration = SCTPTransport.Configuration()
    configuration.association.offersReconfiguration = false
    let world = World.transports(configuration: configuration)
    let (left, _) = try open(in: world)
    world.left.close(left, at: world.now)
    #expect(world.left.state(of: left) == .closed)
  }

  @Test func `the end of the transport closes its channels, with a reason if it failed`() throws {
    let world = World.transports()
    let (left, right) = try open(in: world)
    _ = (world.takeEvents(.left), world.takeEvents(.right))
    world.left.close(at: world.now)
    world.run(for: .seconds(1))
    #expect(world.events[0] == [.stateChanged(left, .closed), .transportStateChanged(.closed)])
    let closure = SCTPClosure.peerAborted([SCTPErrorCause(.userInitiatedAbort, text: "closed")])
    #expect(
      world.events[1] == [
        .failed(right, .transport(closure)), .stateChanged(right, .closed), .transportStateChanged(.closed),
      ])
  }

  @Test func `a message of an unknown channel or kind, and a malformed OPEN, are counted and ignored`() {
    // The left side is a bare association.
    let source = RandomSource(seed: 4)
    var transport = SCTPTransport(random: source.stream("right"))
    var peer = SCTPAssociation(random: source.stream("left"))
    transport.start(as: .server, at: .zero)
    peer.start(at: .zero)
    func exchange() {
      var isBusy = true
      while isBusy {
        isBusy = false
        while let packet = SCTPWorld<SCTPAssociation>.transmit(&peer, at: .zero) {
          transport.receive(packet.span.bytes, at: .zero)
          isBusy = true
        }
        while let packet = SCTPWorld<SCTPTransport>.transmit(&transport, at: .zero) {
          peer.receive(packet.span.bytes, at: .zero)
          isBusy = true
        }
      }
    }
    exchange()
    for (stream, ppid, bytes) in [(2, 51, [65]), (4, 99, [65]), (6, 50, [3, 7]), (8, 50, [2])]
      as [(UInt16, UInt32, [UInt8])]
    {
      try? peer.send(OutgoingMessage(stream: stream, ppid: ppid, payload: bytes), at: .zero)
    }
    exchange()
    #expect(transport.statistics.refusedMessages == 4)
    #expect(transport.channelIDs.isEmpty)
    var events: [SCTPEvent] = []
    while let event = peer.nextEvent() { events.append(event) }
    // The sender of the malformed OPEN hears that there is no channel.
    #expect(events == [.established, .incomingStreamsReset([6])])
  }

  @Test func `statistics have W3C's members`() throws {
    let world = World.transports()
    let (left, _) = try open(in: world)
    for _ in 0..<10 {
      try world.left.send(.binary(payload(10_000)), on: left, at: world.now)
      world.run(for: .milliseconds(50))
    }
    let statistics = world.left.statistics
    #expect(statistics.smoothedRoundTripTime.map { (.milliseconds(20)...(.milliseconds(60))).contains($0) } == true)
    #expect(statistics.congestionWindow >= 11_910)
    #expect(statistics.receiverWindow == 4_718_592)
    #expect(statistics.mtu == 1_191)
    #expect(statistics.unackData == 0)
    #expect(statistics.dataChannelsOpened == 1)
  }
}
