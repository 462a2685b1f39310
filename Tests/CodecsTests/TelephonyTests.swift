import CallCore
import Foundation
import Testing

@testable import Codecs

/// G.711 and G.722 between 48 kHz and payloads, with their resampler and their concealment.
@Suite struct TelephonyTests {
  static let frame = 960

  /// What is heard of 48 kHz samples, in packets of 20 ms; a lost packet is concealed.
  func heard(_ codec: TelephonyCodec, _ sent: [Int16], isLost: (Int) -> Bool = { _ in false }) throws -> [Int16] {
    let (encoder, decoder) = (
      AudioEncoder.telephony(TelephonyEncoder(codec)), AudioDecoder.telephony(TelephonyDecoder(codec))
    )
    var result: [Int16] = []
    for (number, start) in stride(from: 0, to: sent.count, by: Self.frame).enumerated() {
      let samples = Array(sent[start..<start + Self.frame])
      let payload = try [UInt8](unsafeUninitializedCapacity: 1_000) { buffer, count in
        var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
        let encoded = try encoder.encode(samples.span, into: &output)
        count = output.finalize(for: buffer)
        #expect(count == 160 && encoded.byteCount == 160)
      }
      #expect(decoder.inspect(payload) == AudioPayload(samplesPerChannel: 960, redundantSamples: 0, isDTX: false))
      result += try #require(
        decoded { output in
          isLost(number)
            ? decoder.conceal(samples: Self.frame, into: &output)?.samplesPerChannel
            : decoder.decode(payload.span.bytes, into: &output)?.samplesPerChannel
        })
    }
    return result
  }

  /// The delay of the resampler in both directions, and for G.722 that of its filter bank.
  static let delays = 90...270

  @Test(arguments: [TelephonyCodec.pcmu, .pcma], [440.0, 1_000, 3_000])
  func `a tone in the telephone band comes out of G.711 with 30 dB`(codec: TelephonyCodec, frequency: Double) throws {
    let sent = sine(frequency, count: 20 * Self.frame)
    #expect(bestSNR(of: try heard(codec, sent), beside: sent, delays: Self.delays) > 30)
  }

  @Test(arguments: [440.0, 3_000, 6_000]) func `a tone in the wide band comes out of G.722 with 10 dB`(
    frequency: Double
  ) throws {
    let sent = sine(frequency, count: 20 * Self.frame)
    #expect(bestSNR(of: try heard(.g722, sent), beside: sent, delays: Self.delays) > (frequency < 4_000 ? 28 : 10))
  }

  @Test(arguments: TelephonyCodec.allCases) func `a tone above the band is not folded into it`(
    codec: TelephonyCodec
  ) throws {
    let sent = sine(codec == .g722 ? 10_000 : 5_000, count: 20 * Self.frame)
    #expect(AudioLevel(of: Array(try heard(codec, sent).suffix(10 * Self.frame))) < AudioLevel(55))
  }

  @Test(arguments: TelephonyCodec.allCases) func `a lost packet of a steady tone is hardly heard`(
    codec: TelephonyCodec
  ) throws {
    let sent = sine(200, count: 40 * Self.frame)
    let whole = try heard(codec, sent)
    let holed = try heard(codec, sent) { $0 == 20 }
    let around = 20 * Self.frame..<21 * Self.frame
    let (wanted, concealed) = (Array(whole[around]), Array(holed[around]))
    // It fades by a tenth of the packet's level, and keeps its phase.
    #expect(bestSNR(of: concealed, beside: wanted, delays: 0...0) > 12)
  }

  @Test(arguments: TelephonyCodec.allCases) func `concealment is silent after 60 ms`(codec: TelephonyCodec) throws {
    let holed = try heard(codec, sine(200, count: 20 * Self.frame)) { $0 >= 10 }
    #expect(AudioLevel(of: Array(holed[10 * Self.frame..<11 * Self.frame])) > AudioLevel(20))
    #expect(holed.suffix(6 * Self.frame).allSatisfy { $0 == 0 })
  }

  @Test(arguments: [0, 961, 2_000]) func `a payload without samples or with more than 120 ms is refused`(count: Int) {
    let payload = [UInt8](repeating: 0xFF, count: count)
    for codec in TelephonyCodec.allCases {
      #expect(AudioDecoder.telephony(TelephonyDecoder(codec)).inspect(payload) == nil)
      #expect(decoded { TelephonyDecoder(codec).decode(payload.span.bytes, into: &$0) } == nil)
    }
  }

  @Test func `the resampler passes its band with a level error below a tenth of a decibel`() {
    for (rate, frequencies) in [(8_000, [100.0, 1_000, 3_000]), (16_000, [100, 3_000, 6_500])] {
      for frequency in frequencies {
        let sent = sine(frequency, count: 48_000)
        let settled = Array(resampled(sent, rate).suffix(24_000))
        let ratio = rootMeanSquare(settled.span) / rootMeanSquare(sent.span)
        #expect(abs(ratio - 1) < 0.012)
      }
    }
  }

  /// 48 kHz samples brought to a lower rate and back.
  func resampled(_ samples: [Int16], _ rate: Int) -> [Int16] {
    var (down, up) = (Downsampler(to: rate), Upsampler(from: rate))
    let lower = [Int16](unsafeUninitializedCapacity: samples.count) { buffer, count in
      var output = OutputSpan<Int16>(buffer: buffer, initializedCount: 0)
      down.convert(samples.span, into: &output)
      count = output.finalize(for: buffer)
    }
    #expect(lower.count == samples.count * rate / 48_000)
    return [Int16](unsafeUninitializedCapacity: samples.count) { buffer, count in
      var output = OutputSpan<Int16>(buffer: buffer, initializedCount: 0)
      up.convert(lower.span, into: &output)
      count = output.finalize(for: buffer)
    }
  }

  /// The sound is found again by correlation, to a sample of 48 kHz.
  @Test(arguments: TelephonyCodec.allCases) func `decoded sound has the delay that the codec tells`(
    codec: TelephonyCodec
  ) throws {
    // A chirp, which correlates with itself at one place only.
    let sent = (0..<9_600).map { index -> Int16 in
      let time = Double(index) / 48_000
      return Int16(8_000 * sin(2 * .pi * (300 + 6_000 * time) * time))
    }
    let heard = try heard(codec, sent)
    func likeness(_ delay: Int) -> Double {
      (2_000..<7_000).reduce(0.0) { $0 + Double(sent[$1]) * Double(heard[$1 + delay]) }
    }
    let best = (0..<480).max { likeness($0) < likeness($1) } ?? 0
    let told = codec.delay.nanoseconds * 48 / 1_000_000
    #expect(abs(Int64(best) - told) <= 6, "\(best) and not \(told)")
  }
}
