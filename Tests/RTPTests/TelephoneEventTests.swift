import CallCore
import Testing

@testable import RTP

@Suite struct TelephoneEventTests {
  func written(_ payload: TelephoneEventPayload) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 4) { buffer, count in
      var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
      payload.write(into: &output)
      count = output.finalize(for: buffer)
    }
  }

  func read(_ bytes: [UInt8]) -> TelephoneEventPayload? { TelephoneEventPayload(parsing: bytes.span.bytes) }

  @Test func `the fields stand where RFC 4733 figure 1 has them`() {
    let payload = TelephoneEventPayload(event: 11, isEnd: true, volume: 7, duration: 0x0640)
    #expect(written(payload) == [11, 0x87, 0x06, 0x40])
    #expect(read([11, 0x87, 0x06, 0x40]) == payload)
  }

  @Test func `the reserved bit and further events are ignored, and a short payload is refused`() {
    let payload = read([1, 0x4A, 0, 160, 2, 0, 0, 1])
    #expect(payload == TelephoneEventPayload(event: 1, isEnd: false, volume: 10, duration: 160))
    #expect(read([1, 0x8A, 0]) == nil)
  }

  @Test func `digits and events belong together`() {
    for (event, digit) in "0123456789*#ABCD".enumerated() {
      #expect(TelephoneEventPayload.event(of: digit) == UInt8(event))
      #expect(TelephoneEventPayload.digit(of: UInt8(event)) == digit)
    }
    #expect(TelephoneEventPayload.event(of: "d") == 15)
    #expect(TelephoneEventPayload.event(of: "x") == nil && TelephoneEventPayload.digit(of: 16) == nil)
  }
}
