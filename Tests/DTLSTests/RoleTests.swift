import CallCore
import DTLS
import StackWorlds
import Testing

/// A far side that begins before it knows the roles.
@Suite struct RoleTests {
  /// The ClientHello of an association that nobody answers.
  private func strayHello() throws -> [UInt8] {
    let other = DTLSPair(seed: 9)
    other.fate = { _, _ in .lose }
    try other.startClient()
    return try #require(other.sent.first).bytes
  }

  @Test func `a ClientHello from before the answer does no harm to a client`() throws {
    let call = DTLSPair()
    let hello = try strayHello()
    call.client.bind(to: DTLSPair.clientPath, at: call.now)
    call.client.receive(hello.span.bytes, on: DTLSPair.clientPath, at: call.now)
    try call.start()
    call.run()
    let (connected, strays) = (call.bothConnected, call.client.statistics.strayHellos)
    #expect(connected && strays == 1 && call.keysAgree)
  }
}
