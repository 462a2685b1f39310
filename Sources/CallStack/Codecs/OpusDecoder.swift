import COpus

/// An Opus decoder (libopus) for 48 kHz interleaved 16-bit samples, with redundancy and concealment.
package final class OpusDecoder {
  package let channels: Int
  private let decoder: OpaquePointer

  package init(channels: Int = 1) throws(CodecError) {
    guard (1...2).contains(channels) else { throw .unsupportedSetting("channels") }
    var code: Int32 = 0
    guard let decoder = opus_decoder_create(opus_int32(audioSampleRate), Int32(channels), &code) else {
      throw .library(code: code)
    }
    self.decoder = decoder
    self.channels = channels
  }

  deinit { opus_decoder_destroy(decoder) }

  /// Decodes a packet and appends its samples to `output`. Returns the number of samples per channel, or nil when the
  /// payload is malformed or does not fit.
  package func decode(_ payload: RawSpan, into output: inout OutputSpan<Int16>) -> Int? {
    guard let packet = OpusPacket(parsing: payload) else { return nil }
    return decode(payload, samples: packet.samplesPerChannel, redundancy: false, into: &output)
  }

  /// Decodes the `samples` lost before `payload` from its redundancy.
  ///
  /// Without redundancy, or with too little, libopus conceals the rest.
  package func decodeRedundancy(of payload: RawSpan, samples: Int, into output: inout OutputSpan<Int16>) -> Int? {
    decode(payload, samples: samples, redundancy: true, into: &output)
  }

  /// Conceals `samples` (a multiple of 2.5 ms, at most 120 ms) of a missing packet.
  ///
  /// After a packet that marks silence, this produces comfort noise.
  package func conceal(samples: Int, into output: inout OutputSpan<Int16>) -> Int? {
    decode(RawSpan(), samples: samples, redundancy: false, into: &output)
  }

  package func reset() { _ = callsim_opus_decoder_reset(decoder) }

  private func decode(
    _ payload: RawSpan, samples: Int, redundancy: Bool, into output: inout OutputSpan<Int16>
  ) -> Int? {
    guard samples > 0, samples <= 5_760, samples % 120 == 0, output.freeCapacity >= samples * channels else {
      return nil
    }
    var decoded: Int32 = -1
    output.withUnsafeMutableBufferPointer { buffer, count in
      guard let base = buffer.baseAddress else { return }
      decoded = payload.withUnsafeBytes { bytes in
        opus_decode(
          decoder, bytes.isEmpty ? nil : bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
          Int32(bytes.count), base + count, Int32(samples), redundancy ? 1 : 0)
      }
      if decoded > 0 { count += Int(decoded) * channels }
    }
    return decoded > 0 ? Int(decoded) : nil
  }
}
