import CallCore
import Testing

@testable import CongestionControl

@Suite struct CongestionWindowTests {
  private func makeWindow(_ mode: CongestionWindow.Settings.Mode = .reduceTarget) -> CongestionWindow {
    var settings = CongestionWindow.Settings()
    settings.mode = mode
    var window = CongestionWindow(settings: settings)
    // 450 ms at 800 kbit/s are 45 000 bytes.
    window.addRoundTrip(.milliseconds(700))
    window.addRoundTrip(.milliseconds(100))
    window.update(for: .kilobitsPerSecond(800))
    return window
  }

  @Test func `the more is in flight, the faster the rate falls, and it rises again slowly`() {
    let rate = DataRate.kilobitsPerSecond(1_000)
    for (inFlight, expected) in [(70_000, 900), (50_000, 950), (45_000, 1_000), (10_000, 1_000)] as [(Int, Int64)] {
      var window = makeWindow()
      window.bytesInFlight = inFlight
      #expect(window.pushBack(rate) == .kilobitsPerSecond(expected))
    }
    var window = makeWindow()
    window.bytesInFlight = 70_000
    for _ in 0..<4 { _ = window.pushBack(rate) }
    window.bytesInFlight = 10_000
    #expect(abs(window.pushBack(rate).kilobits - 1_000 * 0.6561 * 1.05) < 1)
    window.bytesInFlight = 4_000
    #expect(window.pushBack(rate) == rate)
  }

  @Test func `it pushes no rate below 30 kbit_s`() {
    var window = makeWindow()
    window.bytesInFlight = 1_000_000
    for _ in 0..<100 { _ = window.pushBack(.kilobitsPerSecond(500)) }
    #expect(window.pushBack(.kilobitsPerSecond(500)) == .kilobitsPerSecond(30))
    #expect(window.pushBack(.kilobitsPerSecond(20)) == .kilobitsPerSecond(20))
  }

  @Test func `without feedback, or turned off, it does nothing`() {
    var window = CongestionWindow(settings: CongestionWindow.Settings())
    window.update(for: .kilobitsPerSecond(800))
    window.bytesInFlight = 1_000_000
    #expect(window.pushBack(.kilobitsPerSecond(800)) == .kilobitsPerSecond(800))
    window = makeWindow(.off)
    window.bytesInFlight = 1_000_000
    #expect(window.pushBack(.kilobitsPerSecond(800)) == .kilobitsPerSecond(800))
  }
}
