import Foundation
import Testing

@Suite struct TURNTests {
  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `a server tells its port, and ends as it should when it is told to`(signal: Int32) throws {
    let outcome = try Program.run(
      ["turn", "--listen", "127.0.0.1:0", "--user", "a:b"], interruptedAt: "UDP and TCP\n")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output.hasPrefix("listening on 127.0.0.1:") && !outcome.output.hasPrefix("listening on 127.0.0.1:0,"))
    #expect(outcome.output.contains("0 requests"), "\(outcome.output)")
  }

  @Test func `a range of which clients come to every port is refused`() throws {
    let outcome = try Program.run(
      ["turn", "--listen", "127.0.0.1:50000", "--ports", "50000-50000", "--user", "a:b"])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("--ports leaves none for relays"), "\(outcome.errors)")
  }
}
