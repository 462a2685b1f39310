import CallCore
import DTLS
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

  @Test func `IPv4 relays do for clients that come over IPv6`() throws {
    let outcome = try Program.run(
      ["turn", "--listen", "[::1]:0", "--relay-ip", "127.0.0.1", "--user", "a:b"], interruptedAt: "UDP and TCP\n")
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

  /// A pipe that holds all it can hold, and a port that nobody has.
  private static func stalledReader() throws -> (pipe: Pipe, port: UInt16) {
    let pipe = Pipe()
    let end = pipe.fileHandleForWriting.fileDescriptor
    let flags = fcntl(end, F_GETFL)
    _ = fcntl(end, F_SETFL, flags | O_NONBLOCK)
    while Foundation.write(end, [UInt8](repeating: 46, count: 4_096), 4_096) > 0 {}
    while Foundation.write(end, [46], 1) > 0 {}
    _ = fcntl(end, F_SETFL, flags)
    let probe = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(probe) }
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(probe, $0, length)
        _ = getsockname(probe, $0, &length)
      }
    }
    return (pipe, UInt16(bigEndian: address.sin_port))
  }

  private static func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  /// Asks until somebody answers, a few seconds long.
  private func isAnswered(on port: UInt16) -> Bool {
    let client = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(client) }
    var patience = timeval(tv_sec: 0, tv_usec: 200_000)
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = Self.loopback(port: port)
    let binding: [UInt8] = [0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 7, count: 12)
    var answer = [UInt8](repeating: 0, count: 1_500)
    for _ in 0..<300 {
      withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          _ = sendto(client, binding, binding.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      if recv(client, &answer, answer.count, 0) > 20 { return true }
    }
    return false
  }

  @Test func `a reader who stops reading stops neither the server nor its end`() throws {
    let (pipe, port) = try Self.stalledReader()
    let process = Process()
    process.executableURL = URL(filePath: Program.path)
    process.arguments = ["turn", "--listen", "127.0.0.1:\(port)", "--user", "a:b"]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    #expect(isAnswered(on: port))
    kill(process.processIdentifier, SIGTERM)
    for _ in 0..<500 where process.isRunning { usleep(10_000) }
    #expect(!process.isRunning, "SIGTERM is not heeded")
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    #expect(process.terminationStatus == 4, "what was printed is lost, and the status says so")
  }

  // MARK: TLS

  private static let authority = TLSAuthority(name: "test", entropy: .system, wallClock: WallClock())

  /// Files with a certificate and its key.
  private static func identity() throws -> (certificate: String, key: String) {
    let start = WallClock().unixSeconds(at: .zero)
    let made = authority.issue(
      names: ["turn.test"], addresses: [], validity: start...start + 86_400, entropy: .system)
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let (certificate, key) = (folder.appendingPathComponent("c.pem"), folder.appendingPathComponent("k.pem"))
    try made.certificatePEM.write(to: certificate, atomically: true, encoding: .utf8)
    try made.keyPEM.write(to: key, atomically: true, encoding: .utf8)
    return (certificate.path, key.path)
  }

  @Test func `TLS is served alone, and says where`() throws {
    let (certificate, key) = try Self.identity()
    let outcome = try Program.run(
      ["turn", "--listen-tls", "127.0.0.1:0", "--certificate", certificate, "--key", key, "--user", "a:b"],
      interruptedAt: ", TLS\n")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output.hasPrefix("listening on 127.0.0.1:") && !outcome.output.hasPrefix("listening on 127.0.0.1:0,"))
  }

  @Test func `TLS without what it needs is refused with the reason`() throws {
    let (one, other) = (try Self.identity(), try Self.identity())
    let cases: [([String], String)] = [
      (["--listen-tls", "127.0.0.1:0"], "--listen-tls needs --certificate and --key"),
      (
        ["--listen-tls", "127.0.0.1:0", "--certificate", one.certificate], "--listen-tls needs --certificate and --key"
      ),
      (["--listen", "127.0.0.1:0", "--certificate", one.certificate], "are for --listen-tls"),
      (
        ["--listen-tls", "127.0.0.1:0", "--certificate", one.certificate, "--key", other.key],
        "is not that of the first certificate"
      ),
      (
        ["--listen-tls", "127.0.0.1:0", "--certificate", "/nowhere.pem", "--key", one.key],
        "/nowhere.pem: No such file or directory"
      ),
      (
        ["--listen-tls", "127.0.0.1:0", "--certificate", one.certificate, "--key", "/tmp"],
        "/tmp: is neither a file nor a pipe"
      ),
      (
        ["--listen-tls", "127.0.0.1:0", "--certificate", one.certificate, "--key", one.certificate],
        "has no private key in PEM form"
      ),
      ([], "say where to serve: --listen IP:PORT or --listen-tls IP:PORT"),
    ]
    for (arguments, message) in cases {
      let outcome = try Program.run(["turn", "--user", "a:b"] + arguments)
      #expect(outcome.status == 2 && outcome.errors.contains(message), "\(arguments): \(outcome.errors)")
    }
  }

  @Test(arguments: [
    (["--turn", "turns:127.0.0.1?transport=udp"], "turns: over UDP is DTLS, which is not supported"),
    (["--turn", "turns:127.0.0.1", "--turn-ca", "/nowhere.pem"], "--turn-ca: /nowhere.pem: No such file or directory"),
    (
      ["--turn", "turns:127.0.0.1", "--turn-ca", "/nowhere.pem", "--turn-any-certificate"],
      "--turn-ca and --turn-any-certificate exclude each other"
    ),
  ])
  func `a live call refuses what it cannot do with TLS`(arguments: [String], message: String) throws {
    let outcome = try Program.run(["live", "--offer", "--username", "a", "--credential", "b"] + arguments)
    #expect(outcome.status == 2 && outcome.errors.contains(message), "\(outcome.errors)")
  }
}
