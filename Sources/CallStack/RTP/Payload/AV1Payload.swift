import CallCore

/// The elements of an AV1 payload, in order: units or parts of units (AV1 RTP specification section 4.3).
package struct AV1Payload: Sendable {
  package let header: AV1AggregationHeader
  private var offset = 1
  private var taken: UInt8 = 0

  /// Reads the header of a payload, and checks that its elements fill it. Returns nil when they do not.
  package init?(parsing payload: RawSpan) {
    guard let header = AV1AggregationHeader(parsing: payload), payload.byteCount > 1 else { return nil }
    self.header = header
    var walk = self
    while walk.nextElement(in: payload) != nil {}
    guard walk.offset == payload.byteCount, header.elementCount == 0 || walk.taken == header.elementCount else {
      return nil
    }
  }

  /// Returns the place of the next element, or nil at the end. Always pass the same payload.
  package mutating func nextElement(in payload: RawSpan) -> Range<Int>? {
    guard offset < payload.byteCount, header.elementCount == 0 || taken < header.elementCount else { return nil }
    var start = offset
    var end = payload.byteCount
    if header.elementCount == 0 || taken + 1 < header.elementCount {
      guard let size = LEB128.read(payload, at: &start), size <= payload.byteCount - start else { return nil }
      end = start + size
    }
    offset = end
    if header.elementCount > 0 { taken += 1 }
    return start..<end
  }
}

extension AV1Payload {
  /// Returns the temporal layer that the first unit with an extension header gives (AV1 specification section 5.3.3);
  /// nil when no unit that begins in the payload has one.
  package static func temporalLayer(of payload: RawSpan) -> UInt8? {
    guard var elements = AV1Payload(parsing: payload) else { return nil }
    if elements.header.continuesUnit { _ = elements.nextElement(in: payload) }
    while let range = elements.nextElement(in: payload) {
      guard let header = payload.byte(at: range.lowerBound), header & AV1OBU.extensionFlag != 0, range.count > 1 else {
        continue
      }
      return payload.byte(at: range.lowerBound + 1).map { $0 >> 5 }
    }
    return nil
  }
}

/// The units of a frame, put together again from payloads, each with a size field as decoders want them (AV1
/// specification section 5.2).
package struct AV1FrameBuilder: Sendable {
  private var unit: [UInt8] = []
  private var isUnitOpen = false
  /// Whether a part was missing or a unit malformed; then the frame is of no use.
  package private(set) var isDamaged = false

  package init() {}

  /// Begins a new frame.
  package mutating func begin() {
    unit.removeAll(keepingCapacity: true)
    isUnitOpen = false
    isDamaged = false
  }

  /// Appends a payload's units to a frame. Give the payloads of a frame in order.
  package mutating func append(_ payload: RawSpan, to frame: inout [UInt8]) {
    guard var elements = AV1Payload(parsing: payload), elements.header.continuesUnit == isUnitOpen else {
      isDamaged = true
      return
    }
    while let range = elements.nextElement(in: payload) {
      unit.append(payload, range)
      // The part at the end of a packet may continue in the next.
      if range.upperBound == payload.byteCount, elements.header.isContinued {
        isUnitOpen = true
      } else {
        close(&frame)
      }
    }
  }

  /// Ends a frame. Returns false when it is damaged or a unit has no end.
  package func isWhole() -> Bool { !isDamaged && !isUnitOpen }

  private mutating func close(_ frame: inout [UInt8]) {
    defer { unit.removeAll(keepingCapacity: true) }
    isUnitOpen = false
    // An element of no bytes holds no unit, and is ignored.
    guard !unit.isEmpty else { return }
    var offset = 0
    guard let whole = AV1OBU(parsing: unit.span.bytes, at: &offset), offset == unit.count else {
      isDamaged = true
      return
    }
    if whole.isLeftOut { return }
    frame.append(whole.header | AV1OBU.sizeFlag)
    if let layers = whole.extensionHeader { frame.append(layers) }
    LEB128.append(whole.payload.count, to: &frame)
    frame.append(contentsOf: unit[whole.payload])
  }
}
