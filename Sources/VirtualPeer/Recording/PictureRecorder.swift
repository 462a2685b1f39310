internal import CallCore
internal import Codecs
internal import Formats
internal import Pictures

/// The pictures of a recording, coded as H.264 when they are shown.
final class PictureRecorder {
  private struct Picture {
    let time: Interval
    let sample: [UInt8]
    let isSync: Bool
  }

  private let format: RecordingFormat
  private let size: PictureSize
  private let period: Interval
  private var encoder: H264Encoder?
  private var pictures: [Picture] = []
  private var sequenceParameterSets: [[UInt8]] = []
  private var pictureParameterSets: [[UInt8]] = []
  /// The time of the next picture at the frame rate; nil before the first one.
  private var due: Interval?
  private(set) var byteCount = 0

  init(_ format: RecordingFormat) {
    self.format = format
    size = PictureSize(format.width, format.height) ?? .vga
    period = Interval(nanoseconds: 1_000_000_000 / Int64(format.frameRate))
  }

  var count: Int { pictures.count }

  /// Records a picture, unless there are more of them than the frame rate allows.
  ///
  /// - Parameter time: the time since the start of the recording.
  func take(_ picture: VideoFrame, at time: Interval) throws(VideoCodecError) {
    // Half a period of jitter is allowed, so that a source of the same rate loses no picture.
    if let due, time < due - period / 2 { return }
    let begun = due.map { time > $0 + period ? time : $0 }
    due = (begun ?? time) + period
    let encoder = try openEncoder()
    var scaled = picture.scaled(to: size)
    scaled.timestamp = .zero + time
    guard let frame = try encoder.encode(scaled) else { return }
    let unit = H264AccessUnit(byteStream: frame.bytes)
    for set in unit.sequenceParameterSets where !sequenceParameterSets.contains(set) {
      sequenceParameterSets.append(set)
    }
    for set in unit.pictureParameterSets where !pictureParameterSets.contains(set) { pictureParameterSets.append(set) }
    pictures.append(Picture(time: time, sample: unit.sample, isSync: frame.isKeyFrame))
    byteCount += unit.sample.count
  }

  private func openEncoder() throws(VideoCodecError) -> H264Encoder {
    if let encoder { return encoder }
    var settings = VideoEncoderSettings()
    settings.size = size
    settings.bitrate = format.bitrate
    settings.frameRate = format.frameRate
    settings.dropsFrames = false
    let opened = try H264Encoder(settings: settings)
    encoder = opened
    return opened
  }

  /// Returns the track of a recording of some length; nil without a picture. The last picture stands until the end.
  func track(until end: Interval) -> MP4Track? {
    guard let first = pictures.first else { return nil }
    var track = MP4Track(
      .h264(
        width: size.width, height: size.height, sequenceParameterSets: sequenceParameterSets,
        pictureParameterSets: pictureParameterSets))
    track.delay = Self.ticks(first.time)
    track.rotation = MP4Track.Rotation(rawValue: format.rotation.rawValue) ?? .none
    for (index, picture) in pictures.enumerated() {
      let next = index + 1 < pictures.count ? pictures[index + 1].time : max(end, picture.time)
      let duration = Self.ticks(next) - Self.ticks(picture.time)
      track.samples.append(MP4Track.Sample(picture.sample, duration: duration, isSync: picture.isSync))
    }
    return track
  }

  private static func ticks(_ time: Interval) -> UInt32 { UInt32(clamping: time.ticksOfSound) }
}

extension Interval {
  /// The length in samples at 48 kHz.
  var ticksOfSound: Int { Int(nanoseconds / 1_000_000 * 48 + nanoseconds % 1_000_000 * 48 / 1_000_000) }
}
