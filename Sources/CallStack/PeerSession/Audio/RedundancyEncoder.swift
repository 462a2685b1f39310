internal import CallCore
internal import RTP

/// Puts the last payloads of a stream into each of its packets again (RFC 2198). Their memory is reused.
struct RedundancyEncoder {
  /// The payload type of the redundancy, and of the payloads inside.
  private(set) var payloadType: UInt8
  private(set) var mediaPayloadType: UInt8
  private let limit: Int
  /// The earlier payloads, the oldest first, and the ticks of each.
  private var sources: [REDPayload.Source] = []
  private var ticks: [UInt32] = []

  /// - Parameter limit: the number of earlier payloads in a packet.
  init(payloadType: UInt8, mediaPayloadType: UInt8, limit: Int) {
    self.payloadType = payloadType
    self.mediaPayloadType = mediaPayloadType
    self.limit = limit
  }

  /// The room that a packet needs beside its payloads when it holds no earlier one.
  static let overhead = 1

  /// Appends a packet with a payload and as many earlier ones as fit, and keeps it for the next packets.
  mutating func wrap(_ payload: RawSpan, at now: UInt32, into output: inout OutputSpan<UInt8>) {
    for index in sources.indices { sources[index].timestampOffset = now &- ticks[index] }
    _ = REDPayload.write(primary: payload, payloadType: mediaPayloadType, redundant: sources, into: &output)
    keep(payload, at: now)
  }

  private mutating func keep(_ payload: RawSpan, at now: UInt32) {
    if sources.count < limit {
      sources.append(REDPayload.Source(payloadType: mediaPayloadType, timestampOffset: 0, bytes: []))
      ticks.append(0)
    } else {
      for index in 1..<sources.count {
        sources.swapAt(index - 1, index)
        ticks.swapAt(index - 1, index)
      }
    }
    let last = sources.count - 1
    ticks[last] = now
    sources[last].bytes.removeAll(keepingCapacity: true)
    payload.withUnsafeBytes { sources[last].bytes.append(contentsOf: $0) }
  }
}
