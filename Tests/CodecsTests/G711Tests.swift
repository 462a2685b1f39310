import Testing

@testable import Codecs

/// The two laws beside the definition of ITU-T G.711: tables of decision values and of the values between them.
@Suite struct G711Tests {
  /// One half of a law: the decision values x₁, x₂, … of its intervals, and the value y of each.
  struct Law {
    var decisions: [Int] = []
    var values: [Int] = []

    /// - Parameters:
    ///   - steps: for each segment, the number of its intervals and their size, in units of the law.
    ///   - unit: the number of 16-bit steps in a unit.
    init(_ steps: [(count: Int, size: Int)], firstValue: Int?, unit: Int) {
      var edge = 0
      for (count, size) in steps {
        for _ in 0..<count {
          values.append((edge + edge + size) * unit / 2)
          edge += size
          decisions.append(edge * unit)
        }
      }
      if let firstValue { values[0] = firstValue }
    }

    func interval(of magnitude: Int) -> Int { decisions.firstIndex { magnitude < $0 } ?? decisions.count - 1 }
  }

  /// Table 2a: 15 intervals of 2 after one of 1, then seven segments of 16, in 14 bits.
  static let muLaw = Law([(1, 1), (15, 2)] + (2...8).map { (16, 1 << $0) }, firstValue: 0, unit: 4)
  /// Table 1a: 32 intervals of 1, then six segments of 16, in units of 1/4096 of 12 bits.
  static let aLaw = Law([(32, 2)] + (2...7).map { (16, 1 << $0) }, firstValue: nil, unit: 8)

  @Test func `every sample has the µ-law octet of its interval`() {
    let wrong = (Int16.min...Int16.max).filter { sample in
      let isNegative = sample < 0
      let interval = Self.muLaw.interval(of: Int(isNegative ? ~sample : sample))
      let octet = ~UInt8(interval) & (isNegative ? 0x7F : 0xFF)
      return G711.muLaw(sample) != octet
    }
    #expect(wrong.isEmpty)
  }

  @Test func `every sample has the A-law octet of its interval`() {
    let wrong = (Int16.min...Int16.max).filter { sample in
      let isNegative = sample < 0
      let interval = Self.aLaw.interval(of: Int(isNegative ? ~sample : sample))
      return G711.aLaw(sample) != (UInt8(interval) | (isNegative ? 0 : 0x80)) ^ 0x55
    }
    #expect(wrong.isEmpty)
  }

  @Test(arguments: UInt8.min...UInt8.max) func `every octet has the value of its interval`(octet: UInt8) {
    let muLaw = Self.muLaw.values[Int(~octet & 0x7F)]
    #expect(Int(G711.linear(muLaw: octet)) == (octet & 0x80 == 0 ? -muLaw : muLaw))
    let aLaw = Self.aLaw.values[Int((octet ^ 0x55) & 0x7F)]
    #expect(Int(G711.linear(aLaw: octet)) == ((octet ^ 0x55) & 0x80 == 0 ? -aLaw : aLaw))
  }

  @Test func `values that the Recommendation names come out`() {
    #expect(G711.muLaw(0) == 0xFF && G711.muLaw(.max) == 0x80 && G711.muLaw(.min) == 0x00)
    #expect(G711.linear(muLaw: 0x80) == 8_031 * 4 && G711.linear(muLaw: 0xFE) == 2 * 4)
    #expect(G711.aLaw(0) == 0xD5 && G711.aLaw(.max) == 0xAA && G711.aLaw(.min) == 0x2A)
    #expect(G711.linear(aLaw: 0xAA) == 4_032 * 8 && G711.linear(aLaw: 0xD5) == 8)
  }
}
