import CallCore
import DTLS
import LibC
import PeerSession
import Profiles
import SimNet
import VirtualPeer
import Vocabulary

/// Knotos in a simulation that other programs reach by TCP, for `interop/socket-io.py`:
///
///     socket-io-gateway server PORT            the server; PORT 0 is any, and the port is printed
///     socket-io-gateway app PORT TRANSPORTS    alice and bob, whose server is the program at PORT
///
/// A line of standard input is an action, `alice call bob`. Each change of an app and each frame that the server did not
/// understand is a line of standard output. It ends with standard input.
@main enum Main {
  private final class Printer: TraceObserver {
    func observe(_ record: TraceRecord, in trace: Trace) {
      let kind = trace.name(of: record.kind)
      guard
        ["socket.state", "socket.transport", "call.state", "code", "signal.malformed", "signal.received"].contains(kind)
      else { return }
      let fields = trace.fields(of: record).map(\.value.description)
      print(trace.name(of: record.subject), kind, fields.joined(separator: " "))
      fflush(nil)
    }
  }

  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 3, let port = UInt16(arguments[2]), ["server", "app"].contains(arguments[1]) else {
      print("usage: socket-io-gateway server PORT | app PORT TRANSPORTS")
      exit(2)
    }
    let trace = Trace()
    trace.add(Printer())
    let simulator = Simulator(trace: trace, random: RandomSource(seed: 1))
    let network = try simulator.addNetwork("internet", prefixes: [IPPrefix("203.0.113.0/24")!])
    func addHost(_ name: String) throws -> HostID {
      let host = try simulator.addHost(name)
      try simulator.attach(host, to: network, link: name, type: .wifi, tx: LinkSettings(), rx: LinkSettings())
      return host
    }
    let serverHost = try addHost("signalling")
    let server = Endpoint(simulator.interfaces(of: serverHost)[0].addresses[0], port: 443)
    let runtime = HostRuntime(simulator: simulator, host: serverHost, wallClock: WallClock())
    guard arguments[1] == "app" else {
      let host = CallServerHost(
        server: KnotosServer.self, messages: KnotosApp.vocabulary.messages, runtime: runtime,
        random: simulator.random.scoped("server"), trace: trace, name: "signalling")
      host.start()
      let outside = HostRuntime(simulator: simulator, host: try addHost("outside"), wallClock: WallClock())
      let gateway = Gateway(simulator, outside.network)
      print("port", gateway.listen(port: port, to: server))
      fflush(nil)
      return gateway.run()
    }
    let gateway = Gateway(simulator, runtime.network)
    runtime.network.listen(on: server.port) { stream in gateway.lead(stream, to: port) }
    let transports = arguments.count > 3 ? arguments[3] : "websocket"
    let peers = try ["alice", "bob"].map { name in
      let certificate = Certificate.generate(
        name: name, entropy: .stream(simulator.random.stream("certificate/\(name)")), wallClock: WallClock())
      var session = SessionConfiguration(certificate: certificate, cname: name)
      session.media = .synthetic
      var configuration = VirtualPeer.Configuration(
        name: name, session: session, servers: ["signalling": .init(name: "signalling", endpoint: server)])
      configuration.settings = NamedValues([("socket-transports", .text(transports))])
      let peer = VirtualPeer(configuration, app: KnotosApp.self, on: try addHost(name), of: simulator)
      peer.start()
      return peer
    }
    gateway.onLine = { line in
      let words = line.split(separator: " ").map(String.init)
      guard words.count >= 2, let peer = peers.first(where: { $0.name == words[0] }) else { return }
      let values = words.dropFirst(2).first.map { [("to", ArgumentValue.text($0))] } ?? []
      if words[1] == "quit" { return peer.shutDown() }
      if let refusal = peer.perform(UserAction(words[1], NamedValues(values))) {
        print(words[0], "refused", refusal.reason)
      }
    }
    gateway.run()
  }
}
