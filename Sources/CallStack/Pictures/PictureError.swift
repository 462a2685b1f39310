/// An operation on pictures that do not fit it.
package enum PictureError: Error, Hashable, Sendable {
  /// Two pictures to compare differ in size.
  case sizesDiffer(PictureSize, PictureSize)
  /// A side is shorter than the window of the metric.
  case tooSmall(PictureSize, minimumSide: Int)
}
