import CallCore
import RTP

/// The bytes `body` writes into an output of `capacity` bytes.
func written(capacity: Int = 1_500, _ body: (inout OutputSpan<UInt8>) -> Void) -> [UInt8] {
  [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
    var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
    body(&output)
    count = output.finalize(for: buffer)
  }
}

extension Instant {
  static func milliseconds(_ count: Int64) -> Instant { .zero + .milliseconds(count) }
}

// Expectations cannot hold spans: these take the bytes themselves.
extension RTPPacket {
  init?(bytes: [UInt8]) { self.init(parsing: bytes.span.bytes) }

  func element(_ id: UInt8, of bytes: [UInt8]) -> Range<Int>? { extensionElement(id: id, in: bytes.span.bytes) }

  func audioLevel(_ id: UInt8, of bytes: [UInt8]) -> (level: UInt8, voiceActivity: Bool)? {
    audioLevel(id: id, in: bytes.span.bytes)
  }
}
