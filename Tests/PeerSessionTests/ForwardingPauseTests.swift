import CallCore
import Testing

@testable import PeerSession

@Suite struct ForwardingPauseTests {
  private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  @Test func `a pause begins after two seconds without room`() {
    var pause = ForwardingPause()
    pause.update(isShort: true, at: at(0))
    pause.update(isShort: true, at: at(1_999))
    #expect(!pause.isOn)
    pause.update(isShort: true, at: at(2_000))
    #expect(pause.isOn)
  }

  @Test func `room in between begins the wait anew`() {
    var pause = ForwardingPause()
    pause.update(isShort: true, at: at(0))
    pause.update(isShort: false, at: at(1_500))
    pause.update(isShort: true, at: at(1_600))
    pause.update(isShort: true, at: at(3_000))
    #expect(!pause.isOn)
  }

  @Test func `a pause ends with the first room after two seconds`() {
    var pause = ForwardingPause()
    for time in [0, 2_000] { pause.update(isShort: true, at: at(Int64(time))) }
    pause.update(isShort: false, at: at(3_999))
    #expect(pause.isOn)
    pause.update(isShort: false, at: at(4_000))
    #expect(!pause.isOn)
  }

  @Test func `each pause soon after the last one is twice as long, up to 32 seconds, and later ones are not`() {
    var pause = ForwardingPause()
    var now: Int64 = 0
    for length in [2, 4, 8, 16, 32, 32] {
      pause.update(isShort: true, at: at(now))
      now += 2_000
      pause.update(isShort: true, at: at(now))
      now += Int64(length) * 1_000
      pause.update(isShort: false, at: at(now - 1))
      #expect(pause.isOn, "\(length)")
      pause.update(isShort: false, at: at(now))
      #expect(!pause.isOn, "\(length)")
    }
    now += 10_000
    pause.update(isShort: true, at: at(now))
    pause.update(isShort: true, at: at(now + 2_000))
    pause.update(isShort: false, at: at(now + 4_000))
    #expect(!pause.isOn)
  }
}
