/// A decoder of G.711 or G.722, with concealment, whose samples are raised to 48 kHz mono.
package final class TelephonyDecoder {
  package let codec: TelephonyCodec
  private var g722 = G722Decoder()
  private var concealer: WaveformConcealer
  private var upsampler: Upsampler
  /// Samples at the codec's own rate.
  private let own: UnsafeMutableBufferPointer<Int16>

  package init(_ codec: TelephonyCodec) {
    self.codec = codec
    concealer = WaveformConcealer(rate: codec.sampleRate)
    upsampler = Upsampler(from: codec.sampleRate)
    own = .allocate(capacity: TelephonyCodec.longestPayload * codec.samplesPerByte)
  }

  deinit { own.deallocate() }

  package func reset() {
    g722 = G722Decoder()
    concealer.reset()
    upsampler.reset()
  }

  /// Returns the number of samples in a payload; nil when it has none or more than 120 ms.
  static func samples(in payload: RawSpan) -> Int? {
    (1...TelephonyCodec.longestPayload).contains(payload.byteCount)
      ? payload.byteCount * TelephonyCodec.samplesPerByte : nil
  }

  /// Decodes a payload. Returns the number of samples, or nil when it is malformed or does not fit.
  func decode(_ payload: RawSpan, into output: inout OutputSpan<Int16>) -> Int? {
    guard let count = Self.samples(in: payload), output.freeCapacity >= count else { return nil }
    var samples = OutputSpan<Int16>(buffer: own, initializedCount: 0)
    for index in 0..<payload.byteCount {
      let octet = payload.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      switch codec {
      case .pcmu: samples.append(G711.linear(muLaw: octet))
      case .pcma: samples.append(G711.linear(aLaw: octet))
      case .g722:
        let (first, second) = g722.decode(octet)
        samples.append(first)
        samples.append(second)
      }
    }
    var decoded = samples.mutableSpan
    concealer.accept(&decoded)
    upsampler.convert(samples.span, into: &output)
    _ = samples.finalize(for: own)
    return count
  }

  /// Conceals `count` samples of 48 kHz, a multiple of 2.5 ms and at most 120 ms.
  func conceal(samples count: Int, into output: inout OutputSpan<Int16>) -> Int? {
    guard count > 0, count <= PacketDuration.ms120.samplesPerChannel, count % 120 == 0, output.freeCapacity >= count
    else { return nil }
    var samples = OutputSpan<Int16>(buffer: own, initializedCount: 0)
    concealer.conceal(count / codec.stretch, into: &samples)
    upsampler.convert(samples.span, into: &output)
    _ = samples.finalize(for: own)
    return count
  }
}
