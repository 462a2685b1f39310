import CallCore
import Codecs
import PeerSession
import SRTP

/// What a call cannot do without: each frame of one direction encoded, protected, unprotected and decoded, and nothing
/// else.
final class CodecReplay {
  private static let frameSize = 960
  private static let headerSize = 12

  private let encoder: OpusEncoder
  private let decoder: OpusDecoder
  private var sending: SRTPContext
  private var receiving: SRTPContext
  private var sequence: UInt16 = 0
  private let packet = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
  private let decoded = UnsafeMutableBufferPointer<Int16>.allocate(capacity: frameSize)

  /// With the settings and the profile that calls have by default.
  init() throws {
    let audio = AudioSettings()
    var settings = OpusEncoder.Settings()
    settings.bitrate = audio.bitrate
    settings.complexity = audio.complexity
    settings.usesInBandFEC = audio.inBandFEC
    encoder = try OpusEncoder(settings: settings)
    decoder = try OpusDecoder()
    let profile = SRTPProfile.aeadAES128GCM
    let key = SRTPMasterKey(
      key: [UInt8](repeating: 7, count: profile.keyLength), salt: [UInt8](repeating: 9, count: profile.saltLength))
    sending = try SRTPContext(.sending, profile: profile, key: key)
    receiving = try SRTPContext(.receiving, profile: profile, key: key)
  }

  deinit {
    packet.deallocate()
    decoded.deallocate()
  }

  /// Takes all whole frames of `samples` through.
  func run(_ samples: Span<Int16>) throws {
    var start = 0
    while start + Self.frameSize <= samples.count {
      var output = OutputSpan<UInt8>(buffer: packet, initializedCount: 0)
      writeHeader(to: &output)
      _ = try encoder.encode(samples.extracting(start..<start + Self.frameSize), into: &output)
      try sending.protectRTP(&output)
      try receiving.unprotectRTP(&output)
      decode(output.span.bytes)
      _ = output.finalize(for: packet)
      start += Self.frameSize
    }
  }

  private func decode(_ packet: RawSpan) {
    var played = OutputSpan<Int16>(buffer: decoded, initializedCount: 0)
    let count = decoder.decode(packet.extracting(Self.headerSize..<packet.byteCount), into: &played)
    precondition(count == Self.frameSize, "a packet decodes to its frame")
    _ = played.finalize(for: decoded)
  }

  private func writeHeader(to output: inout OutputSpan<UInt8>) {
    let beginning: [UInt8] = [0x80, 111, UInt8(sequence >> 8), UInt8(truncatingIfNeeded: sequence)]
    for byte in beginning + [UInt8](repeating: 1, count: 8) { output.append(byte) }
    sequence &+= 1
  }
}
