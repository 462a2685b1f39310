/// An encoder of G.711 or G.722 for 48 kHz mono samples.
package final class TelephonyEncoder {
  package let codec: TelephonyCodec
  package private(set) var packetDuration: PacketDuration
  private var g722 = G722Encoder()
  private var downsampler: Downsampler
  /// Samples at the codec's own rate.
  private let own: UnsafeMutableBufferPointer<Int16>

  package init(_ codec: TelephonyCodec, packetDuration: PacketDuration = .ms20) {
    self.codec = codec
    self.packetDuration = packetDuration
    downsampler = Downsampler(to: codec.sampleRate)
    own = .allocate(capacity: TelephonyCodec.longestPayload * codec.samplesPerByte)
  }

  deinit { own.deallocate() }

  package func update(_ packetDuration: PacketDuration) { self.packetDuration = packetDuration }

  package func encode(_ samples: Span<Int16>, into output: inout OutputSpan<UInt8>) throws(CodecError) -> EncodedAudio {
    let frame = packetDuration.samplesPerChannel
    guard samples.count == frame else { throw .wrongFrameSize(samples: samples.count, expected: frame) }
    let size = frame / TelephonyCodec.samplesPerByte
    guard output.freeCapacity >= size else { throw .bufferTooSmall }
    var lower = OutputSpan<Int16>(buffer: own, initializedCount: 0)
    downsampler.convert(samples, into: &lower)
    _ = lower.finalize(for: own)
    for index in 0..<size {
      switch codec {
      case .pcmu: output.append(G711.muLaw(own[index]))
      case .pcma: output.append(G711.aLaw(own[index]))
      case .g722: output.append(g722.encode(own[2 * index], own[2 * index + 1]))
      }
    }
    return EncodedAudio(byteCount: size, samplesPerChannel: frame, isDTX: false)
  }
}
