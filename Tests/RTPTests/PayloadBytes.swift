import CallCore
import RTP

// Expectations cannot hold spans: these take the bytes themselves.
extension VP8PayloadDescriptor {
  init?(bytes: [UInt8], size: inout Int) { self.init(parsing: bytes.span.bytes, size: &size) }
}

extension VP9PayloadDescriptor {
  init?(bytes: [UInt8], size: inout Int) { self.init(parsing: bytes.span.bytes, size: &size) }
}

extension VideoPayload {
  init?(bytes: [UInt8], _ format: VideoFormat) { self.init(parsing: bytes.span.bytes, format: format) }
}

/// The payloads of a frame with their places; nil when it cannot be prepared, or not as many come as were announced.
func packetized(
  of frame: [UInt8], as kind: VideoPacketizer.Frame, limits: PayloadLimits
) -> [(bytes: [UInt8], place: PayloadPlace)]? {
  var packetizer = VideoPacketizer()
  guard let count = packetizer.begin(frame.span.bytes, as: kind, limits: limits) else { return nil }
  var result: [(bytes: [UInt8], place: PayloadPlace)] = []
  while true {
    var place: PayloadPlace?
    let bytes = written(capacity: 70_000) { output in place = packetizer.next(of: frame.span.bytes, into: &output) }
    guard let place else { break }
    result.append((bytes, place))
  }
  return result.count == count ? result : nil
}
