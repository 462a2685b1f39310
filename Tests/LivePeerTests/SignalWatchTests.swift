import Glibc
import Testing

@testable import LivePeer

@Suite struct SignalWatchTests {
  @Test func `every signal that ends programs is heard on the loop`() async {
    await #expect(processExitsWith: .success) {
      let loop = SocketLoop()
      var heard = 0
      let watch = SignalWatch(on: loop) { heard += 1 }
      for signal in [SIGINT, SIGTERM, SIGHUP] { raise(signal) }
      loop.turn()
      precondition(heard == 3)
      withExtendedLifetime(watch) {}
    }
  }

  @Test func `a program that nohup has started does not hear of the end of its terminal`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGHUP, SIG_IGN)
      let loop = SocketLoop()
      var heard = 0
      let watch = SignalWatch(on: loop) { heard += 1 }
      raise(SIGHUP)
      raise(SIGTERM)
      loop.turn()
      precondition(heard == 1)
      withExtendedLifetime(watch) {}
    }
  }
}
