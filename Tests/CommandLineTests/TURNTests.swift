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

  @Test func `a wildcard needs no word of where relays are to be`() throws {
    let outcome = try Program.run(
      ["turn", "--listen", "0.0.0.0:0", "--user", "a:b"], interruptedAt: "UDP and TCP\n")
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  @Test func `a realm may be as long as its attribute holds, whatever its letters`() throws {
    let realm = String(repeating: "\u{1F389}", count: 127)
    let outcome = try Program.run(
      ["turn", "--listen", "127.0.0.1:0", "--user", "a:b", "--realm", realm], interruptedAt: "UDP and TCP\n")
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  private static let intoEmptyNamespace = ["unshare", "--user", "--map-root-user", "--net"]
  private static let hasNamespaces =
    (try? Program.run(["--version"], launcher: intoEmptyNamespace))?.status == 0

  @Test(.enabled(if: hasNamespaces, "there are no network namespaces here"))
  func `a wildcard that stands for nothing is refused with the reason`() throws {
    let outcome = try Program.run(
      ["turn", "--listen", "[::]:0", "--user", "a:b"], launcher: Self.intoEmptyNamespace)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(":: stands for no address: this machine has none of IPv6"), "\(outcome.errors)")
  }

  @Test(arguments: [
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
