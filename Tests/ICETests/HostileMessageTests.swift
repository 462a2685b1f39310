import CallCore
import STUN
import StackWorlds
import Testing

@testable import ICE

/// What a peer's mistakes and other people's datagrams do: be counted, be answered by the book, and move nothing.
@Suite struct HostileMessageTests {
  private let a = endpoint("192.0.2.1:5000")
  private let b = endpoint("192.0.2.2:6000")
  private let stranger = endpoint("203.0.113.66:6666")

  /// Alice waits with Bob's credentials; answers to strangers are caught.
  private final class Caught {
    var answers: [[UInt8]] = []
    var checks: [[UInt8]] = []
  }

  private func waiting(connected: Bool = false) throws -> (TestNetwork, Caught) {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.exchangeCredentials()
    if connected {
      try network.signalAll()
      network.run(until: at(5))
    }
    let caught = Caught()
    network.tap = { bytes, _, to in
      if to.port == 6666 { caught.answers.append(bytes) }
      return bytes
    }
    return (network, caught)
  }

  private func forger(_ network: TestNetwork) -> STUNForger {
    STUNForger(from: network.bob.agent.localCredentials, to: network.alice.agent.localCredentials)
  }

  private func give(_ bytes: [UInt8], to network: TestNetwork) {
    network.deliver(bytes, on: Path(local: a, remote: stranger), to: network.alice)
  }

  private func answer(_ caught: Caught) -> (code: UInt16?, isProtected: Bool)? {
    guard let bytes = caught.answers.last, let message = parse(bytes) else { return nil }
    return (message[.errorCode]?.code, message.hasIntegrity)
  }

  @Test func `a check without integrity or user name is a bad request`() throws {
    let (network, caught) = try waiting()
    var forged = forger(network)
    forged.key = nil
    give(forged.request, to: network)
    #expect(answer(caught)?.code == 400 && answer(caught)?.isProtected == false)
    forged = forger(network)
    forged.username = nil
    give(forged.request, to: network)
    forged.username = "without-a-colon"
    give(forged.request, to: network)
    #expect(caught.answers.count == 3 && answer(caught)?.code == 400)
    #expect(network.alice.counters.malformed == 3 && network.alice.pairs.isEmpty)
  }

  @Test func `a check with a wrong password is unauthenticated and counted`() throws {
    let (network, caught) = try waiting()
    var forged = forger(network)
    forged.key = .shortTerm(password: "not the password at all")
    give(forged.request, to: network)
    #expect(answer(caught)?.code == 401 && answer(caught)?.isProtected == false)
    #expect(network.alice.counters.wrongIntegrity == 1 && network.alice.pairs.isEmpty)
  }

  @Test func `a check for an unknown user is unauthenticated and counted`() throws {
    let (network, caught) = try waiting()
    var forged = forger(network)
    forged.username = "nope:nope"
    give(forged.request, to: network)
    #expect(answer(caught)?.code == 401)
    #expect(network.alice.counters.unknownUfrag == 1 && network.alice.pairs.isEmpty)
  }

  @Test func `a check of another generation of the peer is refused`() throws {
    let (network, caught) = try waiting()
    var forged = forger(network)
    forged.username = "\(network.alice.agent.localCredentials.ufrag):older"
    give(forged.request, to: network)
    #expect(answer(caught)?.code == 401)
    #expect(network.alice.counters.wrongGeneration == 1 && network.alice.pairs.isEmpty)
  }

  @Test func `an attribute that must be understood and is not is named in a 420`() throws {
    let (network, caught) = try waiting()
    var forged = forger(network)
    forged.unknownAttribute = 0x7ABC
    give(forged.request, to: network)
    let message = try #require(caught.answers.last.flatMap(parse))
    #expect(message[.errorCode]?.code == 420 && message[.unknownAttributes]?.types == [0x7ABC])
    #expect(network.alice.pairs.isEmpty)
  }

  @Test func `an attribute that may be ignored is`() throws {
    let (network, caught) = try waiting()
    var forged = forger(network)
    forged.unknownAttribute = 0xC057
    give(forged.request, to: network)
    #expect(answer(caught)?.code == nil && answer(caught)?.isProtected == true)
    #expect(network.alice.pairs.count == 1)
  }

  @Test func `a check without PRIORITY is a bad request`() throws {
    let (network, caught) = try waiting()
    var forged = forger(network)
    forged.priority = nil
    give(forged.request, to: network)
    #expect(answer(caught)?.code == 400 && answer(caught)?.isProtected == true)
    #expect(network.alice.pairs.isEmpty)
  }

  @Test func `a check to a socket that is no candidate gets no answer`() throws {
    let (network, _) = try waiting()
    let before = network.sent
    network.deliver(
      forger(network).request, on: Path(local: endpoint("192.0.2.1:9999"), remote: stranger), to: network.alice)
    #expect(network.sent == before && network.alice.counters.unknownLocal == 1)
  }

  @Test func `the answer carries the address the check came from`() throws {
    let (network, caught) = try waiting()
    give(forger(network).request, to: network)
    let message = try #require(caught.answers.first.flatMap(parse))
    #expect(message.messageClass == .successResponse && message[.xorMappedAddress] == stranger)
    let integrity = message.integrity(key: .shortTerm(password: network.alice.agent.localCredentials.password))
    #expect(integrity == .valid && message.hasFingerprint)
  }

  @Test func `a check without fingerprint is tolerated`() throws {
    let (network, caught) = try waiting()
    var forged = forger(network)
    forged.fingerprint = false
    give(forged.request, to: network)
    #expect(caught.answers.count == 2)  // The response and the triggered check.
  }

  @Test func `forged responses leave a check under way`() throws {
    let (network, _) = try waiting()
    network.isBlocked = { _, to in to.port == 6000 }
    var ids: [STUNTransactionID] = []
    network.tap = { bytes, _, to in
      if to.port == 6000, let message = parse(bytes) { ids.append(message.transactionID) }
      return bytes
    }
    network.signalCandidates(from: network.bob, to: network.alice)
    network.run(until: at(1))
    let id = try #require(ids.last)
    let path = Path(local: a, remote: b)
    let password = network.bob.agent.localCredentials.password
    for forged in [
      STUNForger.success(id, mapped: a, password: nil), STUNForger.success(id, mapped: a, password: "wrong password"),
      STUNForger.error(.roleConflict, id, password: nil), STUNForger.error(.unauthenticated, id, password: nil),
      STUNForger.error(.badRequest, id, password: nil), STUNForger.error(.forbidden, id, password: "wrong password"),
      STUNForger.success(STUNTransactionID(high: 1, low: 2), mapped: a, password: password),
    ] {
      network.deliver(forged, on: path, to: network.alice)
    }
    #expect(network.alice.state == .checking && network.alice.role == .controlling)
    #expect(network.alice.pairs.map(\.state) == [.inProgress])
    #expect(network.alice.counters.wrongIntegrity == 4 && network.alice.counters.unexpectedResponses == 1)
    // The real one still counts.
    network.deliver(STUNForger.success(id, mapped: a, password: password), on: path, to: network.alice)
    #expect(network.alice.pairs.first?.state == .succeeded)
  }

  @Test func `a response from elsewhere proves nothing`() throws {
    let (network, _) = try waiting()
    network.isBlocked = { _, to in to.port == 6000 }
    var ids: [STUNTransactionID] = []
    network.tap = { bytes, _, to in
      if to.port == 6000, let message = parse(bytes) { ids.append(message.transactionID) }
      return bytes
    }
    network.signalCandidates(from: network.bob, to: network.alice)
    network.run(until: at(1))
    let bytes = STUNForger.success(
      try #require(ids.last), mapped: a, password: network.bob.agent.localCredentials.password)
    network.deliver(bytes, on: Path(local: a, remote: stranger), to: network.alice)
    #expect(network.alice.pairs.allSatisfy { $0.state == .failed })
    #expect(!network.alice.canSend)
  }

  @Test(arguments: [STUNError.forbidden, .serverError])
  func `an error response to every check fails the agent no sooner than silence would`(error: STUNError) throws {
    let (network, _) = try waiting()
    let password = network.bob.agent.localCredentials.password
    network.tap = { bytes, from, _ in
      guard from.port == 6000, let message = parse(bytes), message.messageClass != .request else {
        return from.port == 6000 ? nil : bytes
      }
      return STUNForger.error(error, message.transactionID, password: password)
    }
    network.signalCandidates(from: network.bob, to: network.alice)
    network.run(until: at(14.9))
    #expect(network.alice.state == .checking)
    let failures = network.alice.count {
      if case .checkFailed(_, .error(code: error.code)) = $0 { true } else { false }
    }
    #expect(failures > 0)
    network.run(until: at(21))
    #expect(network.alice.state == .failed)
  }

  @Test(arguments: [
    (STUNError.badRequest, true), (.forbidden, true), (.unauthenticated, false), (.unknownAttribute, false),
    (.serverError, false),
  ])
  func `an error response ends a pair that worked, unless it may pass`(error: STUNError, isFinal: Bool) throws {
    let (network, wifi, cellular) = try TestNetwork.connected()
    let password = network.bob.agent.localCredentials.password
    let first = try #require(network.alice.selected?.id)
    network.tap = { bytes, _, to in
      guard to == wifi, let message = parse(bytes), message.messageClass == .successResponse else { return bytes }
      return STUNForger.error(error, message.transactionID, password: password)
    }
    network.run(for: .seconds(4))
    #expect(network.alice.selected?.base == (isFinal ? cellular : wifi))
    #expect(network.alice.pairs.contains { $0.id == first } == !isFinal)
    #expect(!network.alice.states.contains(.disconnected))
  }

  @Test func `after an error the peer's own check still connects`() throws {
    let (network, _) = try waiting()
    let password = network.bob.agent.localCredentials.password
    var failing = true
    network.tap = { bytes, from, _ in
      guard failing, from.port == 6000, let message = parse(bytes) else { return bytes }
      guard message.messageClass != .request else { return nil }
      return STUNForger.error(.forbidden, message.transactionID, password: password)
    }
    network.signalCandidates(from: network.bob, to: network.alice)
    network.run(until: at(6))
    #expect(network.alice.pairs.map(\.state) == [.failed])
    failing = false
    network.signalCandidates(from: network.alice, to: network.bob)
    network.run(until: at(8))
    #expect(network.alice.state == .connected && network.bob.state == .connected)
  }

  @Test func `no forged or mangled datagram moves the state of a call`() throws {
    let (network, _) = try waiting(connected: true)
    var random = RandomSource(seed: 11).stream("mangle")
    var real: [[UInt8]] = []
    network.tap = { bytes, _, _ in
      if real.count < 40 { real.append(bytes) }
      return bytes
    }
    network.run(for: .seconds(20))
    let (states, selected) = (network.alice.states, network.alice.selected?.id)
    for round in 0..<4_000 {
      var bytes = real[Int(random.uniform(below: UInt64(real.count)))]
      switch round % 4 {
      case 0: bytes[Int(random.uniform(below: UInt64(bytes.count)))] ^= UInt8(1 + random.uniform(below: 255))
      case 1: bytes.removeLast(Int(random.uniform(below: UInt64(bytes.count))))
      case 2: bytes = random.bytes(Int(random.uniform(below: 200)))
      default:
        // A valid form with a length that lies.
        bytes[3] = UInt8(random.uniform(below: 256))
      }
      let from = random.chance(0.5) ? b : stranger
      network.deliver(bytes, on: Path(local: a, remote: from), to: network.alice)
    }
    #expect(network.alice.states == states && network.alice.selected?.id == selected)
    #expect(network.alice.role == .controlling)
    network.run(for: .seconds(20))
    #expect(network.alice.states == states)
  }

  @Test func `a spray of checks from made-up addresses is bounded`() throws {
    let (network, _) = try waiting(connected: true)
    for port in 1...2_000 {
      var forged = forger(network)
      forged.transaction = STUNTransactionID(high: 9, low: UInt64(port))
      network.deliver(
        forged.request, on: Path(local: a, remote: Endpoint(stranger.address, port: UInt16(port))), to: network.alice)
    }
    #expect(network.alice.pairs.count <= 100)
    #expect(network.alice.selected?.remoteEndpoint == b)
    network.run(for: .seconds(5))
    #expect(network.alice.state == .completed && network.bob.state == .completed)
  }

  @Test func `a peer that sees ever other addresses gives no more candidates than are kept`() throws {
    var settings = ICESettings()
    settings.pairLimit = 2
    let network = TestNetwork(settings: settings)
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    var port: UInt16 = 10_000
    let password = network.bob.agent.localCredentials.password
    network.tap = { [a, stranger] bytes, _, to in
      guard to == a, let message = parse(bytes), message.messageClass == .successResponse else { return bytes }
      port += 1
      return STUNForger.success(
        message.transactionID, mapped: Endpoint(stranger.address, port: port), password: password)
    }
    try network.signalAll()
    network.run(until: at(60))
    let count = network.alice.agent.localCandidates.count
    #expect(port > 10_010 && count <= 8)
    #expect(network.alice.state == .completed)
  }
}
