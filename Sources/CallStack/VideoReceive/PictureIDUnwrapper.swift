internal import CallCore
package import RTP

/// Extends picture numbers of seven or fifteen bits.
///
/// A sender that changes the width begins again ahead of all numbers so far, so that no old frame is taken for a
/// reference.
package struct PictureIDUnwrapper: Sendable {
  private var unwrapper = SequenceUnwrapper()
  private var bitWidth = 0
  private var base: Int64 = 0
  private var highest: Int64 = 0

  package init() {}

  package mutating func unwrap(_ id: PictureID) -> Int64 {
    if Defect.pictureIDsNotExtended.isPlanted { return Int64(id.value) }
    if id.bitWidth != bitWidth {
      if bitWidth != 0 { base = highest + 1 << 16 }
      bitWidth = id.bitWidth
      unwrapper = SequenceUnwrapper()
    }
    // Sixteen bits wrap as the number does when it fills the highest of them.
    let shift = 16 - id.bitWidth
    let value = unwrapper.unwrap(id.value << UInt16(shift)) >> Int64(shift) + base
    highest = max(highest, value)
    return value
  }
}
