/// A track of an ``MP4File``: H.264 pictures or Opus sound. All its times are in ticks of ``MP4File/ticksPerSecond``.
package struct MP4Track: Sendable {
  /// What the samples are coded with.
  package enum Coding: Hashable, Sendable {
    /// Pictures (ISO/IEC 14496-15). The parameter sets are NAL units without start codes.
    case h264(width: Int, height: Int, sequenceParameterSets: [[UInt8]], pictureParameterSets: [[UInt8]])
    /// Sound at 48 kHz (Encapsulation of Opus in ISO Base Media File Format). A decoder leaves out `preSkip` samples.
    case opus(channels: Int, preSkip: Int)
  }

  /// A picture or a packet of sound.
  package struct Sample: Hashable, Sendable {
    /// Of H.264: NAL units, each after its length in four bytes.
    package let bytes: [UInt8]
    /// How long it is shown or played.
    package let duration: UInt32
    /// Whether decoding can begin with it.
    package let isSync: Bool

    package init(_ bytes: [UInt8], duration: UInt32, isSync: Bool) {
      self.bytes = bytes
      self.duration = duration
      self.isSync = isSync
    }
  }

  /// The angle by which a player turns the pictures clockwise.
  package enum Rotation: Int, CaseIterable, Sendable { case none = 0, right = 90, half = 180, left = 270 }

  package let coding: Coding
  package var samples: [Sample] = []
  /// The time from the start of the movie to the first sample.
  package var delay: UInt32 = 0
  /// How much of the samples is played, after the ticks that a decoder leaves out; nil for all.
  package var playedDuration: UInt32?
  package var rotation = Rotation.none

  package init(_ coding: Coding) { self.coding = coding }

  /// The ticks at the start of the samples that are not played.
  var skipped: UInt32 { if case .opus(_, let preSkip) = coding { UInt32(clamping: preSkip) } else { 0 } }

  /// The sum of the durations of all samples.
  var sampleDuration: UInt32 { samples.reduce(0) { $0.addingSaturating($1.duration) } }

  /// The time that the samples are played.
  var duration: UInt32 { playedDuration ?? sampleDuration.subtractingSaturating(skipped) }

  /// The time from the start of the movie to the end of the track.
  var end: UInt32 { delay.addingSaturating(duration) }
}

extension UInt32 {
  fileprivate func addingSaturating(_ other: UInt32) -> UInt32 {
    let (sum, isOver) = addingReportingOverflow(other)
    return isOver ? .max : sum
  }

  fileprivate func subtractingSaturating(_ other: UInt32) -> UInt32 { self > other ? self - other : 0 }
}
