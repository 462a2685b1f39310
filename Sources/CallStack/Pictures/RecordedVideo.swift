package import CallCore

/// Pictures that were recorded, each from its time on.
public struct RecordedVideo: Hashable, Sendable {
  /// What follows the last picture.
  public enum End: String, Hashable, Sendable, CaseIterable {
    /// The first picture again, and so on.
    case `repeat`
    /// The last picture, for ever.
    case lastPicture = "last-picture"
  }

  private let pictures: [VideoFrame]
  /// The time at which each begins.
  private let starts: [Interval]
  private let duration: Interval
  private let end: End

  /// Makes a video of pictures in the order of their timestamps; of several with the same one the last is shown. The last
  /// picture stands for as long as the one before it, and a single one for a second.
  ///
  /// - Returns: nil without pictures, and if a time is before the last one.
  package init?(_ all: [VideoFrame], end: End) {
    guard zip(all, all.dropFirst()).allSatisfy({ $0.timestamp <= $1.timestamp }) else { return nil }
    var pictures: [VideoFrame] = []
    for picture in all {
      if pictures.last?.timestamp == picture.timestamp { pictures.removeLast() }
      pictures.append(picture)
    }
    guard let first = pictures.first, let last = pictures.last else { return nil }
    let starts = pictures.map { $0.timestamp - first.timestamp }
    self.pictures = pictures
    self.starts = starts
    self.end = end
    let lastLength = pictures.count > 1 ? last.timestamp - pictures[pictures.count - 2].timestamp : .seconds(1)
    duration = starts[starts.count - 1] + lastLength
  }

  /// Returns the picture at a time since the beginning.
  package func picture(at time: Interval) -> VideoFrame {
    let place =
      switch end {
      case .repeat: Interval(nanoseconds: time.nanoseconds % duration.nanoseconds)
      case .lastPicture: time
      }
    var (low, high) = (0, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= place { low = middle } else { high = middle }
    }
    return pictures[low]
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(starts) }

  /// The bytes of all pictures, for a hash over them.
  package var samples: some Sequence<[UInt8]> { pictures.lazy.map(\.samples) }
}
