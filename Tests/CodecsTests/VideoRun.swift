import CallCore
import Codecs
import Pictures

/// A video that is encoded at its own frame rate.
struct VideoRun {
  var video: GeneratedVideo
  /// The frames that the encoder did not drop.
  var frames: [EncodedVideoFrame] = []
  var dropped = 0

  init(
    _ codec: VideoCodec, _ kind: GeneratedVideo.Kind = .talkingHead, seconds: Double, _ settings: VideoEncoderSettings,
    keyFramesAt: [UInt32] = []
  ) throws {
    video = GeneratedVideo(kind, size: settings.size)
    let encoder = try VideoEncoder(codec, settings: settings, random: RandomStream(seed: 1))
    for number in 0..<UInt32(seconds * Double(settings.frameRate)) {
      let frame = video.frame(number, at: Self.time(number, settings))
      if let coded = try encoder.encode(frame, forcingKeyFrame: keyFramesAt.contains(number)) {
        frames.append(coded)
      } else {
        dropped += 1
      }
    }
  }

  static func time(_ number: UInt32, _ settings: VideoEncoderSettings) -> Instant {
    .zero + .microseconds(Int64(number) * 1_000_000 / Int64(settings.frameRate))
  }

  /// The mean bitrate in kbit/s over so many seconds.
  func kilobits(over seconds: Double) -> Double {
    Double(frames.reduce(0) { $0 + $1.bytes.count }) * 8 / 1_000 / seconds
  }
}

extension VideoDecoder {
  // Expectations cannot hold spans: this takes the bytes themselves.
  func decode(_ bytes: [UInt8]) throws(VideoCodecError) -> DecodedVideoFrame? { try decode(bytes.span.bytes) }
}

extension VPXDecoder {
  func decode(_ bytes: [UInt8]) throws(VideoCodecError) -> DecodedVideoFrame? { try decode(bytes.span.bytes) }
}

extension SyntheticVideoDecoder {
  func decode(_ bytes: [UInt8]) throws(VideoCodecError) -> DecodedVideoFrame { try decode(bytes.span.bytes) }
}

func videoSettings(_ change: (inout VideoEncoderSettings) -> Void = { _ in }) -> VideoEncoderSettings {
  var settings = VideoEncoderSettings()
  settings.size = .qvga
  settings.bitrate = .kilobitsPerSecond(300)
  change(&settings)
  return settings
}

// A failed expectation looks for the differences of two arrays, which takes minutes for those of a picture.
extension VideoFrame {
  var digest: UInt64 { FNV1a.hash(words: samples.span.bytes) }
}

extension EncodedVideoFrame {
  var digest: [UInt64] { [FNV1a.hash(words: bytes.span.bytes), UInt64(number), UInt64(layer.id)] }
}
