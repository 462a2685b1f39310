import CVirtualClock
import CallCore
import DTLS
import StackWorlds
import Testing

struct DeterminismTests {
  static func transcript(seed: UInt64) -> String {
    let call = DTLSPair(seed: seed)
    call.fate = { number, _ in seed >> UInt64(number % 16) & 1 == 1 && number < 12 ? .lose : .deliver }
    try? call.start()
    call.run()
    let tail = DTLSPair.certificates.client.fingerprint().description
    return call.transcript + "\n" + tail
  }

  @Test func `libssl reads the virtual clock`() {
    #expect(VirtualClockCheck.remainingAfter400Milliseconds() == .milliseconds(600))
    #expect(!callsim_virtual_clock_enabled())
  }

  @Test func `one seed gives one transcript and another seed another`() {
    let first = Self.transcript(seed: 7)
    #expect(first == Self.transcript(seed: 7))
    #expect(first != Self.transcript(seed: 8))
  }

  @Test func `calls that interleave do not change each other's bytes`() throws {
    let alone = DTLSPair(seed: 3)
    try alone.start()
    alone.run()
    let (one, other) = (DTLSPair(seed: 3), DTLSPair(seed: 4))
    try one.start()
    try other.start()
    for step in 1...100 as ClosedRange<Int64> {
      one.run(until: .zero + .milliseconds(step))
      other.run(until: .zero + .milliseconds(step))
    }
    #expect(one.transcript == alone.transcript)
  }

  @Test func `another process writes the same bytes`() async throws {
    let result = try await #require(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      print("[[\(DeterminismTests.transcript(seed: 37))]]")
    }
    let output = String(decoding: result.standardOutputContent, as: UTF8.self)
    #expect(output.contains("[[\(Self.transcript(seed: 37))]]"))
  }
}
