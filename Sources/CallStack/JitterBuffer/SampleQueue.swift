/// Decoded audio for the device: interleaved samples, or only their number if the decoder produces none.
struct SampleQueue: ~Copyable {
  /// The capacity in samples per channel: the longest decoder output (120 ms), after the rest of a pull and one
  /// stretch.
  private static let framesOfRoom = 5_760 * 2 + 1_920

  let channels: Int
  private let storage: UnsafeMutableBufferPointer<Int16>
  private var start = 0
  /// The number of waiting samples per channel.
  private(set) var count = 0

  /// - Parameter holdsSamples: false to keep only the number of samples and allocate no memory.
  init(channels: Int, holdsSamples: Bool) {
    self.channels = channels
    storage = .allocate(capacity: holdsSamples ? Self.framesOfRoom * channels : 0)
    storage.initialize(repeating: 0)
  }

  deinit { storage.deallocate() }

  var holdsSamples: Bool { storage.count > 0 }

  /// Lends room at the end to a decoder, and counts the appended samples. Returns their number per channel.
  mutating func append(_ body: (inout OutputSpan<Int16>) -> Int?) -> Int? {
    compact()
    let used = holdsSamples ? count * channels : 0
    let room = UnsafeMutableBufferPointer(rebasing: storage[used...])
    var output = OutputSpan<Int16>(buffer: room, initializedCount: 0)
    let appended = body(&output)
    _ = output.finalize(for: room)
    guard let appended, appended > 0 else { return nil }
    count += appended
    return appended
  }

  /// Appends silence.
  mutating func appendSilence(_ frames: Int) {
    if holdsSamples {
      compact()
      for index in count * channels..<(count + frames) * channels { storage[index] = 0 }
    }
    count += frames
  }

  /// Removes `frames` at `offset`, to shorten a restored packet to its missing part.
  mutating func remove(_ frames: Int, at offset: Int) {
    if holdsSamples {
      let (from, size) = ((start + offset * channels), frames * channels)
      for index in from..<start + (count - frames) * channels { storage[index] = storage[index + size] }
    }
    count -= frames
  }

  /// Scales samples from `offset` on, with a gain that changes linearly over `frames`.
  mutating func ramp(at offset: Int, frames: Int, from first: Double, to last: Double) {
    guard holdsSamples, frames > 0, first != 1 || last != 1 else { return }
    let end = min(offset + frames, count)
    for frame in offset..<max(offset, end) {
      let gain = first + (last - first) * Double(frame - offset) / Double(frames)
      for index in start + frame * channels..<start + (frame + 1) * channels {
        storage[index] = Int16(Double(storage[index]) * gain)
      }
    }
  }

  /// Moves the first `frames` to `output`, as far as it has room, and returns their root mean square and peak.
  mutating func pop(_ frames: Int, into output: inout OutputSpan<Int16>) -> (rms: Double, peak: Double) {
    let taken = min(frames, count)
    var power = 0.0
    var largest: UInt16 = 0
    if holdsSamples {
      let room = min(taken * channels, output.freeCapacity)
      for index in start..<start + taken * channels {
        let sample = storage[index]
        if index - start < room { output.append(sample) }
        power += Double(sample) * Double(sample)
        largest = max(largest, sample.magnitude)
      }
      start += taken * channels
    }
    count -= taken
    let rms = taken > 0 ? (power / Double(taken * channels)).squareRoot() / 32_768 : 0
    return (rms, min(1, Double(largest) / 32_767))
  }

  /// Removes one pitch period. Returns its length in samples per channel, or nil when none was found.
  mutating func accelerate(threshold: Double) -> Int? {
    guard holdsSamples else { return modelledPeriod { $0 - $1 } }
    let samples = valid
    guard let lag = TimeStretcher.period(of: UnsafeBufferPointer(samples), channels: channels, threshold: threshold)
    else { return nil }
    TimeStretcher.removePeriod(lag, from: samples, channels: channels)
    count -= lag
    return lag
  }

  /// Repeats one pitch period. Returns its length in samples per channel, or nil when none was found.
  mutating func decelerate(threshold: Double) -> Int? {
    guard holdsSamples else { return modelledPeriod { $0 + $1 } }
    compact()
    guard count + TimeStretcher.lagRange.upperBound <= Self.framesOfRoom,
      let lag = TimeStretcher.period(of: UnsafeBufferPointer(valid), channels: channels, threshold: threshold)
    else { return nil }
    TimeStretcher.repeatPeriod(lag, in: storage, count: count * channels, channels: channels)
    count += lag
    return lag
  }

  mutating func removeAll() {
    start = 0
    count = 0
  }

  private var valid: UnsafeMutableBufferPointer<Int16> {
    UnsafeMutableBufferPointer(rebasing: storage[start..<start + count * channels])
  }

  /// Changes the count by 5 ms in place of a pitch period, which cannot be found without samples.
  private mutating func modelledPeriod(_ apply: (Int, Int) -> Int) -> Int? {
    let lag = 240
    guard count >= 2 * lag else { return nil }
    count = apply(count, lag)
    return lag
  }

  private mutating func compact() {
    guard start > 0 else { return }
    // Ascending order is safe for the overlapping ranges.
    for index in 0..<count * channels { storage[index] = storage[start + index] }
    start = 0
  }
}
