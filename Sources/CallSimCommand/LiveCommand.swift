import ArgumentParser
import CallCore
import DTLS
import Formats
import Foundation
import LivePeer
import PeerSession
import ScenarioFormat
import ScenarioSuite

/// A real call, over this machine's own network.
struct LiveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "live", abstract: "Make or answer a real call over this machine's network.",
    discussion: """
      The same call stack that scenarios run, on real sockets. Try \
      '\(ProgramName.current) live --serve 127.0.0.1:8080' and open that page in a browser.
      """)

  @OptionGroup(title: "How the call comes about (choose one)") var exchange: LiveExchangeArguments
  @OptionGroup(title: "Sound") var sound: LiveSoundArguments
  @OptionGroup(title: "Network") var network: LiveNetworkArguments

  @Option(parsing: .unconditional, help: ArgumentHelp("Hang up so long after the call is up.", valueName: "seconds"))
  var duration: Double?

  @Flag(help: "Say once a second how the call is, on standard error.")
  var stats = false

  @Flag(help: "Write statistics, once a second, and descriptions as JSON lines on standard output.")
  var json = false

  @Option(help: ArgumentHelp("Write the keys to an NSS key log, so that captures can be decrypted.", valueName: "file"))
  var keylog: String?

  @Option(
    help: ArgumentHelp("Write all datagrams, and the keys to them, to a pcapng file.", valueName: "file"))
  var capture: String?

  func run() throws {
    // Turns the loss of the reader into a write error; by default it would end the process.
    signal(SIGPIPE, SIG_IGN)
    let mode = try exchange.mode()
    var settings = try sound.settings()
    try network.apply(to: &settings)
    if let duration {
      guard duration > 0, duration < 1e6 else {
        throw UsageProblem(message: "--duration takes seconds, not \(duration)")
      }
      settings.duration = Interval(nanoseconds: Int64(duration * 1e9))
    }
    try checkFiles(settings)
    settings.stats = json ? .json : stats ? .lines : .none
    settings.keyLog = keylog
    let file: LiveCapture?
    do {
      file = try capture.map { path in try LiveCapture(path: path) }
    } catch {
      throw UsageProblem(message: "\(error)")
    }
    settings.tap = file
    let end = try run(mode, settings)
    try file?.close()
    if let end, !end.isOrderly { throw ExitCode(1) }
  }

  private func checkFiles(_ settings: CallSettings) throws {
    var played: String?
    if case .file(let path) = settings.play { played = path }
    try DistinctFiles.check([
      ("--play", played), ("--remote-description", exchange.remoteDescription),
      ("--local-description", exchange.localDescription), ("--record", sound.record), ("--capture", capture),
      ("--keylog", keylog),
    ])
  }

  /// Returns the end of the last call, if there was one.
  private func run(_ mode: LiveExchangeArguments.Mode, _ settings: CallSettings) throws -> CallEnd? {
    switch mode {
    case .stdio:
      // The requests of the peer protocol replace these options.
      let ignored = [("--record", sound.record), ("--keylog", keylog), ("--duration", duration.map { "\($0)" })]
      if let (option, _) = ignored.first(where: { $0.1 != nil }) {
        throw UsageProblem(
          message: "\(option) does not go with --stdio: 'open' of the peer protocol says what is recorded")
      }
      var settings = settings
      settings.log = { Output.error(TextStyle.printable($0) + "\n") }
      let program = PeerProgram(
        loop: SocketLoop(), agent: "callsim \(RunEnvironment.version)", settings: settings,
        write: { Output.text($0) })
      try program.run()
      return nil
    case .call(let mode):
      let program = LiveProgram(
        mode, settings, output: Self.output, log: { Output.error(TextStyle.printable($0) + "\n") })
      let end: CallEnd?
      do {
        end = try program.run()
      } catch {
        throw UsageProblem(message: TextStyle.printable("\(error)"))
      }
      if let end {
        Output.error(TextStyle.printable("\(end)") + "\n")
        if json { Output.text("{\"end\":\"\(end.code.rawValue)\",\"wasUp\":\(end.wasUp)}\n") }
      }
      if let lost = program.lostOutput, Output.loss == nil { throw lost }
      return end
    }
  }

  private static func output(_ text: String) throws(FileError) {
    Output.text(text)
    if let loss = Output.loss { throw loss }
  }
}

/// The way in which descriptions are exchanged.
struct LiveExchangeArguments: ParsableArguments {
  enum Mode {
    case stdio
    case call(LiveProgram.Mode)
  }

  @Flag(help: "Make an offer, and take the answer.") var offer = false
  @Flag(help: "Take an offer, and make the answer.") var answer = false
  @Option(help: ArgumentHelp("Answer calls from a page for browsers, and from --call.", valueName: "host:port"))
  var serve: String?
  @Option(help: ArgumentHelp("Call a callsim that serves.", valueName: "url")) var call: String?
  @Flag(help: "Be driven over standard input and output, as docs/peer-protocol.md says.") var stdio = false

  @Option(
    help: ArgumentHelp(
      "With --offer or --answer: write the local description here, not to standard output.", valueName: "file"))
  var localDescription: String?
  @Option(
    help: ArgumentHelp(
      "With --offer or --answer: read the remote description here, not from standard input.", valueName: "file"))
  var remoteDescription: String?
  @Flag(help: "With --serve: end with the first call.") var once = false

  func mode() throws -> Mode {
    let chosen = [offer, answer, serve != nil, call != nil, stdio].filter { $0 }.count
    guard chosen == 1 else {
      throw UsageProblem(message: "choose one of --offer, --answer, --serve, --call and --stdio")
    }
    guard offer || answer || (localDescription == nil && remoteDescription == nil) else {
      throw UsageProblem(message: "--local-description and --remote-description go with --offer or --answer")
    }
    guard serve != nil || !once else { throw UsageProblem(message: "--once goes with --serve") }
    if offer { return .call(.offer(localPath: localDescription, remotePath: remoteDescription)) }
    if answer { return .call(.answer(localPath: localDescription, remotePath: remoteDescription)) }
    if let serve {
      guard let place = HostAndPort(serve) else {
        throw UsageProblem(message: "--serve takes host:port such as 127.0.0.1:8080, not '\(serve)'")
      }
      return .call(.serve(host: place.host, port: place.port, once: once))
    }
    if let call {
      guard !call.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7F }), let place = HTTPPlace(call)
      else {
        throw UsageProblem(message: "--call takes an address such as http://127.0.0.1:8080/, not '\(call)'")
      }
      return .call(.call(place))
    }
    return .stdio
  }
}

/// The audio to send, and the handling of received audio.
struct LiveSoundArguments: ParsableArguments {
  @Option(help: ArgumentHelp("What to say: a 48 kHz mono WAV file, tone:440, echo or silence.", valueName: "what"))
  var play = "tone:440"
  @Option(help: ArgumentHelp("Write what is heard to a WAV file.", valueName: "file")) var record: String?
  @Option(parsing: .unconditional, help: ArgumentHelp("Effort of the Opus encoder, 0 to 10.", valueName: "n"))
  var complexity = 9
  @Option(parsing: .unconditional, help: ArgumentHelp("Bit rate of the Opus encoder, in kbit/s.", valueName: "kbit/s"))
  var bitrate = 32

  func settings() throws -> CallSettings {
    var settings = CallSettings()
    guard let play = CallSettings.Play(play) else {
      throw UsageProblem(message: "--play takes a WAV file, tone:440 (1 to 23999 Hz), echo or silence, not '\(play)'")
    }
    guard (0...10).contains(complexity) else {
      throw UsageProblem(message: "--complexity takes 0 to 10, not \(complexity)")
    }
    guard (6...510).contains(bitrate) else {
      throw UsageProblem(message: "--bitrate takes 6 to 510 kbit/s, not \(bitrate)")
    }
    settings.play = play
    settings.record = record
    settings.audio.complexity = complexity
    settings.audio.bitrate = .kilobitsPerSecond(Int64(bitrate))
    return settings
  }
}

/// Servers, interfaces and ports.
struct LiveNetworkArguments: ParsableArguments {
  @Option(help: ArgumentHelp("A STUN server, such as stun:stun.example.org:3478; may be repeated.", valueName: "uri"))
  var stun: [String] = []
  @Option(
    help: ArgumentHelp(
      "A TURN server, such as turn:turn.example.org?transport=tcp or, for TLS, turns:turn.example.org; may be repeated.",
      valueName: "uri")
  )
  var turn: [String] = []
  @Option(help: "The user name at the TURN servers.") var username: String?
  @Option(help: "The password at the TURN servers.") var credential: String?
  @Option(
    help: ArgumentHelp("Instead of a password: the secret that time-limited ones are made with.", valueName: "secret"))
  var turnSecret: String?
  @Option(
    help: ArgumentHelp(
      "Believe the certificates of TURN servers over TLS that were signed by those in this PEM file, instead of by "
        + "those whom the system trusts.", valueName: "file"))
  var turnCa: String?
  @Flag(help: "Believe whatever certificate a TURN server over TLS shows.") var turnAnyCertificate = false
  @Flag(help: "Use relayed candidates only.") var relayOnly = false
  @Option(
    help: ArgumentHelp(
      "Renew a relay's permissions so often, at a server that forgets before RFC 8656 says.", valueName: "seconds"))
  var permissionRefresh: UInt32 = 240
  @Option(help: ArgumentHelp("The same for a relay's channels.", valueName: "seconds"))
  var channelRefresh: UInt32 = 240
  @Flag(help: "Gather candidates on loopback addresses too.") var loopback = false
  @Option(help: ArgumentHelp("Use this network interface only; may be repeated.", valueName: "name"))
  var interface: [String] = []
  @Flag(name: .customLong("no-ipv6"), help: "Use no IPv6 address.") var noIPv6 = false
  @Option(help: ArgumentHelp("Bind sockets to ports of this range.", valueName: "first-last")) var ports: String?
  @Flag(help: "Tell '.local' names instead of addresses; this machine's link can resolve them.") var mdns = false

  func apply(to settings: inout CallSettings) throws {
    guard permissionRefresh > 0, channelRefresh > 0 else {
      throw UsageProblem(message: "--permission-refresh and --channel-refresh take at least a second")
    }
    settings.relayOnly = relayOnly
    settings.tls.trust = try trust()
    settings.relayRefresh.permission = .seconds(Int64(permissionRefresh))
    settings.relayRefresh.channel = .seconds(Int64(channelRefresh))
    settings.interfaces.allowsLoopback = loopback
    settings.interfaces.names = interface
    try checkInterfaces()
    settings.interfaces.allowsIPv6 = !noIPv6
    settings.obfuscatesAddresses = mdns
    guard !mdns || SocketLoop().canAnnounceNames else {
      throw UsageProblem(message: "--mdns needs an interface beside loopback, and a share in UDP port 5353")
    }
    if let ports {
      guard let range = ClosedRange(ports: ports) else {
        throw UsageProblem(message: "--ports takes a range such as 50000-50100, not '\(ports)'")
      }
      settings.ports = range
    }
    guard turn.isEmpty || turnSecret != nil || (username != nil && credential != nil) else {
      throw UsageProblem(message: "--turn needs --username and --credential, or --turn-secret")
    }
    guard credential == nil || turnSecret == nil else {
      throw UsageProblem(message: "--credential and --turn-secret exclude each other; choose one")
    }
    let unused = [("--username", username), ("--credential", credential), ("--turn-secret", turnSecret)]
    if turn.isEmpty, let (option, _) = unused.first(where: { $0.1 != nil }) {
      throw UsageProblem(message: "\(option) is for a TURN server: name one with --turn")
    }
    guard !relayOnly || !turn.isEmpty else { throw UsageProblem(message: "--relay-only needs a --turn server") }
    do {
      for uri in stun { settings.servers += try ICEServerURI(uri, kind: .stun).resolve() }
      let user = TURNUser(username: username ?? "callsim", credential: credential ?? "", secret: turnSecret)
      for uri in turn { settings.servers += try ICEServerURI(uri, kind: .turn).resolve(as: user) }
    } catch {
      throw UsageProblem(message: "\(error)")
    }
  }

  private func trust() throws -> TLSTrust {
    guard let turnCa else { return turnAnyCertificate ? .anybody : .system }
    guard !turnAnyCertificate else {
      throw UsageProblem(message: "--turn-ca and --turn-any-certificate exclude each other; choose one")
    }
    do {
      return .authorities(try TLSCertificates.read(.of(turnCa)))
    } catch {
      throw UsageProblem(message: "--turn-ca: \(error)")
    }
  }

  private func checkInterfaces() throws {
    guard !interface.isEmpty else { return }
    guard let all = InterfaceAddress.all else {
      throw UsageProblem(message: "this machine's interfaces cannot be listed")
    }
    let known = all.map(\.name).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    guard let missing = interface.first(where: { !known.contains($0) }) else { return }
    let hint = Suggestion.hint(for: missing, among: known) ?? "there are: \(known.joined(separator: ", "))"
    throw UsageProblem(message: "--interface names '\(missing)', which is not up here; \(hint)")
  }
}
