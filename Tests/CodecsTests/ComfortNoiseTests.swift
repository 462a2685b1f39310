import CallCore
import Testing

@testable import Codecs

@Suite struct ComfortNoiseTests {
  /// White noise, or with a `color` noise in which each sample keeps a part of the one before.
  func noise(_ level: Double, color: Double = 0, count: Int) -> [Int16] {
    var random = RandomSource(seed: 4).stream("noise")
    var last = 0.0
    return (0..<count).map { _ in
      last = color * last + level * 1.732 * (Double(random.uniform(below: 20_001)) / 10_000 - 1)
      return Int16(last)
    }
  }

  func payload(of samples: [Int16]) throws -> [UInt8] {
    let encoder = ComfortNoiseEncoder()
    for start in stride(from: 0, to: samples.count, by: 960) {
      _ = encoder.isPause(Array(samples[start..<start + 960]).span)
    }
    return try [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
      var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
      _ = try encoder.write(into: &output)
      count = output.finalize(for: buffer)
    }
  }

  func noise(of payload: [UInt8], count: Int = 48_000) throws -> [Int16] {
    let decoder = ComfortNoiseDecoder()
    var result = try #require(decoded { decoder.decode(payload.span.bytes, into: &$0) })
    #expect(result.count == 480)
    while result.count < count {
      result += try #require(decoded { decoder.generate(480, into: &$0) })
    }
    return result
  }

  @Test func `a pause begins after 200 ms of silence, and ends with sound`() {
    let encoder = ComfortNoiseEncoder()
    let (quiet, loud) = (noise(20, count: 960), sine(440, count: 960))
    let verdicts = (0..<12).map { _ in encoder.isPause(quiet.span) }
    #expect(verdicts == Array(repeating: false, count: 10) + [true, true])
    #expect(!encoder.isPause(loud.span) && !encoder.isPause(quiet.span))
  }

  @Test(arguments: [10, 40, 80] as [UInt8]) func `noise has the level of its payload`(level: UInt8) throws {
    // Without spectral information it is white (RFC 3389 section 3.2).
    for payload in [[level], [level] + [UInt8](repeating: 127, count: 8), [level] + [UInt8](repeating: 127, count: 30)]
    {
      let heard = AudioLevel(of: try noise(of: payload))
      #expect(abs(Int(heard.rawValue) - Int(level)) <= 1)
    }
  }

  @Test func `the spectrum of noise comes back`() throws {
    for color in [-0.8, 0.8] {
      let samples = resampledToNarrow(noise(60, color: color, count: 9_600))
      let payload = try payload(of: samples)
      let back = try noise(of: payload)
      // At 8 kHz, neighbours are six samples apart.
      let correlation = { (samples: [Int16]) -> Double in
        var (product, power) = (0.0, 1.0)
        for index in 6..<samples.count {
          product += Double(samples[index]) * Double(samples[index - 6])
          power += Double(samples[index]) * Double(samples[index])
        }
        return product / power
      }
      #expect(abs(correlation(samples) - correlation(back)) < 0.25)
      #expect(abs(Int(AudioLevel(of: samples).rawValue) - Int(AudioLevel(of: back).rawValue)) <= 2)
    }
  }

  /// Noise at 8 kHz, raised to 48 kHz.
  func resampledToNarrow(_ narrow: [Int16]) -> [Int16] {
    var up = Upsampler(from: 8_000)
    return [Int16](unsafeUninitializedCapacity: narrow.count * 6) { buffer, count in
      var output = OutputSpan<Int16>(buffer: buffer, initializedCount: 0)
      up.convert(narrow.span, into: &output)
      count = output.finalize(for: buffer)
    }
  }

  @Test func `an empty payload is refused, and any other is not`() {
    let decoder = AudioDecoder.comfortNoise(ComfortNoiseDecoder())
    #expect(decoder.inspect([]) == nil && decoder.inspect([0xFF])?.isDTX == true)
    var random = RandomSource(seed: 4).stream("payloads")
    for _ in 0..<200 {
      let payload = (0..<1 + Int(random.uniform(below: 20))).map { _ in UInt8(random.uniform(below: 256)) }
      #expect(decoded { decoder.decode(payload.span.bytes, into: &$0)?.samplesPerChannel }?.count == 480)
    }
  }

  @Test func `coefficients survive their octets`() {
    for octet in UInt8.min...254 where (3...251).contains(octet) {
      #expect(ComfortNoise.octet(ComfortNoise.coefficient(octet)) == octet)
    }
  }
}

@Suite struct ToneTests {
  /// The tones of an event at a volume, as far as it goes.
  func tones(_ event: UInt8, volume: UInt8 = 10, count: Int = 4_800) throws -> [Int16] {
    let decoder = ToneDecoder(clockRate: 8_000, producesSamples: true)
    decoder.take([event, volume, 0, 160].span.bytes)
    return try #require(decoded { decoder.play(count, into: &$0)?.samplesPerChannel })
  }

  @Test func `each digit has its row and its column`() throws {
    let (rows, columns) = ([697.0, 770, 852, 941], [1_209.0, 1_336, 1_477, 1_633])
    for (place, digit) in "123A456B789C*0#D".enumerated() {
      let event = UInt8(try #require("0123456789*#ABCD".firstIndex(of: digit)).utf16Offset(in: "0123456789*#ABCD"))
      let sound = try tones(event)
      let wanted = zip(
        sine(rows[place / 4], amplitude: 5_181, count: 4_801), sine(columns[place % 4], amplitude: 5_181, count: 4_801)
      ).map { $0 + $1 }.dropFirst()
      #expect(bestSNR(of: sound, beside: Array(wanted), delays: 0...0) > 40)
    }
  }

  @Test func `an event ends with its last packet, and others are silent`() throws {
    let decoder = ToneDecoder(clockRate: 8_000, producesSamples: true)
    for payload in [[1, 10, 0, 160], [1, 0x8A, 3, 32]] as [[UInt8]] { decoder.take(payload.span.bytes) }
    let after = try #require(decoded { decoder.play(480, into: &$0)?.samplesPerChannel })
    #expect(after == Array(repeating: 0, count: 480))
    #expect(try tones(66).allSatisfy { $0 == 0 })
    #expect(AudioDecoder.tones(decoder).inspect([1, 0x8A, 3, 32])?.lead == 4_800)
    #expect(AudioDecoder.tones(decoder).inspect([1, 0x8A, 3]) == nil)
  }
}
