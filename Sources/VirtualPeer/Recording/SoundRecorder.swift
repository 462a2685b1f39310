internal import CallCore
internal import Codecs
internal import Formats

/// The sound of a recording: the mix of what is sent and what is played, coded as Opus.
final class SoundRecorder {
  /// The samples that libopus looks ahead at 48 kHz (RFC 6716 section 2), which a decoder leaves out.
  private static let preSkip = 312
  /// A gap of more samples than this is silence, such as the time in which the audio unit stands.
  private static let gapLimit = 4_800

  private let encoder: OpusEncoder
  private var framer: PCMFramer
  private var frame: [Int16] = []
  private var sent: [Int16] = []
  /// The number of samples so far.
  private var count = 0
  private var packets: [[UInt8]] = []
  private(set) var byteCount = 0

  init() throws(CodecError) {
    var settings = OpusEncoder.Settings()
    settings.bitrate = .kilobitsPerSecond(64)
    settings.usesInBandFEC = false
    encoder = try OpusEncoder(settings: settings)
    framer = PCMFramer(frameSize: settings.packetDuration.samplesPerChannel)
  }

  /// Takes the frame of the microphone that is sent, before the one that is played with it.
  func take(sent samples: Span<Int16>) { sent = samples.indices.map { samples[$0] } }

  /// Takes the frame that is played, or nothing, and mixes it with the one that is sent.
  ///
  /// - Parameters:
  ///   - length: the number of samples in a frame of the device.
  ///   - time: the time since the start of the recording.
  func take(played samples: ArraySlice<Int16>, length: Int, at time: Interval) throws(CodecError) {
    let gap = time.ticksOfSound - length - count
    if gap > Self.gapLimit { try append(Array(repeating: 0, count: gap)) }
    var mix = Array(repeating: Int16(0), count: length)
    for (index, sample) in sent.prefix(length).enumerated() { mix[index] = sample }
    for (index, sample) in samples.prefix(length).enumerated() {
      mix[index] = Int16(clamping: Int(mix[index]) + Int(sample))
    }
    sent = []
    try append(mix)
  }

  private func append(_ samples: [Int16]) throws(CodecError) {
    count += samples.count
    framer.append(samples.span)
    while framer.takeFrame(into: &frame) { try encode() }
  }

  private func encode() throws(CodecError) {
    var failure: CodecError?
    let frame = frame
    let packet = [UInt8](unsafeUninitializedCapacity: OpusEncoder.maximumPacketSize) { buffer, initialized in
      var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
      do throws(CodecError) { _ = try encoder.encode(frame.span, into: &output) } catch { failure = error }
      initialized = output.finalize(for: buffer)
    }
    if let failure { throw failure }
    packets.append(packet)
    byteCount += packet.count
  }

  /// Returns the track of a recording of some length; called once, at the end.
  func track(until end: Interval) throws(CodecError) -> MP4Track {
    let length = max(end.ticksOfSound, 0)
    // The rest of the last packet, and what the encoder holds back.
    let missing = max(length - count, 0) + Self.preSkip
    let size = framer.frameSize
    let open = (framer.pendingCount + missing) % size
    try append(Array(repeating: 0, count: missing + (open == 0 ? 0 : size - open)))
    var track = MP4Track(.opus(channels: 1, preSkip: Self.preSkip))
    track.samples = packets.map { MP4Track.Sample($0, duration: UInt32(size), isSync: true) }
    track.playedDuration = UInt32(clamping: length)
    return track
  }
}
