import CallCore
import Testing

@testable import ICE

@Suite struct ConnectingTests {
  @Test func `two hosts connect and select the same pair`() throws {
    let network = TestNetwork()
    let a = try network.addHost(network.alice, "192.0.2.1:5000")
    let b = try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(for: .seconds(2))
    #expect(network.alice.states == [.checking, .completed])
    #expect(network.bob.states == [.checking, .completed])
    let (alices, bobs) = (network.alice.agent.sendingPath, network.bob.agent.sendingPath)
    #expect(alices == Path(local: a, remote: b))
    #expect(bobs == Path(local: b, remote: a))
  }
}
