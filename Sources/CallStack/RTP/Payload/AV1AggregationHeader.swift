import CallCore

/// The aggregation header of AV1 (AV1 RTP specification section 4.4), the first byte of each payload.
package struct AV1AggregationHeader: Hashable, Sendable, BitwiseCopyable {
  /// Whether the first element continues the unit of the previous packet (Z).
  package var continuesUnit: Bool
  /// Whether the last element continues in the next packet (Y).
  package var isContinued: Bool
  /// The number of elements, of which the last has no size; 0 when each has one (W).
  package var elementCount: UInt8
  /// Whether the packet begins a coded video sequence, with a key frame (N).
  package var beginsSequence: Bool

  package init(
    continuesUnit: Bool = false, isContinued: Bool = false, elementCount: UInt8 = 0, beginsSequence: Bool = false
  ) {
    self.continuesUnit = continuesUnit
    self.isContinued = isContinued
    self.elementCount = elementCount & 3
    self.beginsSequence = beginsSequence
  }

  /// Reads the header of a payload.
  ///
  /// - Returns: nil when the payload is empty, or both begins a sequence and continues a unit, which no frame does.
  package init?(parsing payload: RawSpan) {
    guard let byte = payload.byte(at: 0) else { return nil }
    self.init(
      continuesUnit: byte & 0x80 != 0, isContinued: byte & 0x40 != 0, elementCount: byte >> 4 & 3,
      beginsSequence: byte & 0x08 != 0)
    guard !(beginsSequence && continuesUnit) else { return nil }
  }

  var byte: UInt8 {
    (continuesUnit ? 0x80 : 0) | (isContinued ? 0x40 : 0) | elementCount << 4 | (beginsSequence ? 0x08 : 0)
  }
}
