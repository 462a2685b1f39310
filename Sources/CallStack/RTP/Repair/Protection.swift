/// The amount of forward error correction of a stream.
package struct Protection: Hashable, Sendable, BitwiseCopyable {
  /// Repair packets per media packet, in 1/255, for groups with and without a key frame.
  package var keyFactor: UInt8
  package var deltaFactor: UInt8
  /// The largest number of frames in a group.
  package var maximumFrames: Int

  package init(keyFactor: UInt8, deltaFactor: UInt8, maximumFrames: Int) {
    (self.keyFactor, self.deltaFactor, self.maximumFrames) = (keyFactor, deltaFactor, max(1, maximumFrames))
  }

  /// No repair packets.
  package static let none = Protection(keyFactor: 0, deltaFactor: 0, maximumFrames: 1)
}
