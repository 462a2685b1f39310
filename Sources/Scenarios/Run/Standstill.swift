internal import CallCore
internal import Codecs
internal import PeerSession

/// Tells what is due of a device that plays nothing, as one that is suspended: so much, as if it were concealed.
struct Standstill {
  private var last: Instant?
  private var (count, streams) = (0, 0)
  /// A device plays every 10 ms, and what it may be late.
  private static let patience = Interval.milliseconds(100)

  /// Notes that the device plays so many samples of so many streams.
  mutating func play(_ count: Int, of streams: Int = 1, at now: Instant) {
    (last, self.count, self.streams) = (now, count, streams)
  }

  /// Calls `body` with the number of samples, and the places of all streams, of each 10 ms in which nothing was played.
  mutating func pass(to now: Instant, _ body: (_ count: Int, _ places: [PlayedPlace]) -> Void) {
    guard var last, now - last >= Self.patience else { return }
    let places = Array(repeating: PlayedPlace.concealed, count: streams)
    while now - last >= audioDevicePeriod.interval {
      last += audioDevicePeriod.interval
      body(count, places)
    }
    self.last = last
  }
}
