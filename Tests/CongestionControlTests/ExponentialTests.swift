import Foundation
import Testing

@testable import CongestionControl

@Suite struct ExponentialTests {
  @Test func `the exponential and the logarithm are those of the C library, to fifteen digits`() {
    for step in -2_000...2_000 {
      let x = Double(step) * 0.317
      if abs(x) < 600 { #expect(abs(Exponential.exp(x) / Foundation.exp(x) - 1) < 1e-13) }
      let y = Foundation.exp(x / 4)
      #expect(abs(Exponential.log(y) - Foundation.log(y)) <= 1e-14 * max(1, abs(Foundation.log(y))))
    }
    #expect(Exponential.exp(0) == 1 && Exponential.log(1) == 0 && Exponential.log(0) == -.infinity)
    #expect(Exponential.exp(-1_000) == 0)
  }
}
