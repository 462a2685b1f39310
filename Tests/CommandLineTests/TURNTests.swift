import Foundation
import Testing

@Suite struct TURNTests {
  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `a server tells its port, and ends as it should when it is told to`(signal: Int32) throws {
    let outcome = try Program.run(
      ["turn", "--listen", "127.0.0.1:0", "--user", "a:b"], interruptedAt: "UDP and TCP\n", with: signal)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output.hasPrefix("listening on 127.0.0.1:") && !outcome.output.hasPrefix("listening on 127.0.0.1:0,"))
    #expect(outcome.output.contains("0 requests"), "\(outcome.output)")
  }

  @Test func `a wildcard is told as the addresses it stands for`() throws {
    let outcome = try Program.run(
      ["turn", "--listen", "0.0.0.0:0", "--relay-ip", "127.0.0.1", "--user", "a:b"], interruptedAt: "UDP and TCP\n")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains("listening on 127.0.0.1:") && !outcome.output.contains("0.0.0.0"))
  }

  @Test(arguments: [
    (["--listen", "0.0.0.0:3478"], "0.0.0.0 is no address that peers can send to"),
    (
      ["--listen", "0.0.0.0:3478", "--relay-ip", "127.0.0.1", "--alternate", "127.0.0.2:3479"],
      "--alternate needs addresses that are named"
    ),
    (
      ["--listen", "0.0.0.0:50000", "--relay-ip", "127.0.0.1", "--ports", "50000-50000"],
      "--ports leaves none for relays"
    ),
  ])
  func `a wildcard is refused where an address is needed`(arguments: [String], message: String) throws {
    let outcome = try Program.run(["turn", "--user", "a:b"] + arguments)
    #expect(outcome.status == 2 && outcome.errors.contains(message), "\(outcome.errors)")
  }

  @Test func `a range of which clients come to every port is refused`() throws {
    let outcome = try Program.run(
      ["turn", "--listen", "127.0.0.1:50000", "--ports", "50000-50000", "--user", "a:b"])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("--ports leaves none for relays"), "\(outcome.errors)")
  }
}
