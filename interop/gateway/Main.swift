import CallCore
import DTLS
import LibC
import PeerSession
import Profiles
import SimNet
import VirtualPeer
import Vocabulary

/// A profile's server or apps in a simulation that other programs reach by TCP, for `interop/socket-io.py` (Knotos) and
/// `interop/xmpp.py` (ConnectyCube):
///
///     signalling-gateway socket-io server PORT            the server; PORT 0 is any, and the port is printed
///     signalling-gateway socket-io app PORT TRANSPORTS    alice and bob, whose server is the program at PORT
///     signalling-gateway xmpp server PORT
///     signalling-gateway xmpp app PORT
///
/// A line of standard input is an action, `alice call bob`. Each change of an app and each frame that the server did not
/// understand is a line of standard output. It ends with standard input.
@main enum Main {
  private final class Printer: TraceObserver {
    func observe(_ record: TraceRecord, in trace: Trace) {
      let kind = trace.name(of: record.kind)
      guard
        [
          "socket.state", "socket.transport", "call.state", "chat.state", "session.state", "code", "signal.malformed",
          "signal.received", "message.rejected",
        ].contains(kind)
      else { return }
      let fields = trace.fields(of: record).map(\.value.description)
      print(trace.name(of: record.subject), kind, fields.joined(separator: " "))
      fflush(nil)
    }
  }

  /// What differs between the protocols.
  private struct Product {
    let app: any CallApp.Type
    let server: any CallServer.Type
    let messages: [MessageDeclaration]
    let serverName: String
    var settings = NamedValues([])
  }

  private static func product(_ name: String, _ options: [String]) -> Product? {
    switch name {
    case "socket-io":
      Product(
        app: KnotosApp.self, server: KnotosServer.self, messages: KnotosApp.vocabulary.messages,
        serverName: "signalling",
        settings: NamedValues([("socket-transports", .text(options.first ?? "websocket"))]))
    case "xmpp":
      Product(
        app: ConnectyCubeApp.self, server: ConnectyCubeServer.self, messages: ConnectyCubeApp.vocabulary.messages,
        serverName: "chat")
    default: nil
    }
  }

  /// The simulated network of the server, and what stands for the machine's programs in it.
  private struct World {
    let trace = Trace()
    let simulator: Simulator
    let network: NetworkID
    let server: Endpoint
    let runtime: HostRuntime

    init(_ serverName: String) throws {
      trace.add(Printer())
      simulator = Simulator(trace: trace, random: RandomSource(seed: 1))
      network = try simulator.addNetwork("internet", prefixes: [IPPrefix("203.0.113.0/24")!])
      let host = try Self.addHost(serverName, to: network, of: simulator)
      server = Endpoint(simulator.interfaces(of: host)[0].addresses[0], port: 443)
      runtime = HostRuntime(simulator: simulator, host: host, wallClock: WallClock())
    }

    func addHost(_ name: String) throws -> HostID { try Self.addHost(name, to: network, of: simulator) }

    private static func addHost(_ name: String, to network: NetworkID, of simulator: Simulator) throws -> HostID {
      let host = try simulator.addHost(name)
      try simulator.attach(host, to: network, link: name, type: .wifi, tx: LinkSettings(), rx: LinkSettings())
      return host
    }
  }

  static func main() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count >= 3, let port = UInt16(arguments[2]), ["server", "app"].contains(arguments[1]),
      let product = product(arguments[0], Array(arguments.dropFirst(3)))
    else {
      print("usage: signalling-gateway socket-io|xmpp server PORT | socket-io app PORT TRANSPORTS | xmpp app PORT")
      exit(2)
    }
    let world = try World(product.serverName)
    try arguments[1] == "server" ? serve(product, in: world, at: port) : use(product, in: world, at: port)
  }

  private static func serve(_ product: Product, in world: World, at port: UInt16) throws {
    let host = CallServerHost(
      server: product.server, messages: product.messages, runtime: world.runtime,
      random: world.simulator.random.scoped("server"), trace: world.trace, name: product.serverName)
    host.start()
    let outside = HostRuntime(
      simulator: world.simulator, host: try world.addHost("outside"), wallClock: WallClock())
    let gateway = Gateway(world.simulator, outside.network)
    print("port", gateway.listen(port: port, to: world.server))
    fflush(nil)
    gateway.run()
  }

  private static func use(_ product: Product, in world: World, at port: UInt16) throws {
    let (simulator, runtime) = (world.simulator, world.runtime)
    let gateway = Gateway(simulator, runtime.network)
    runtime.network.listen(on: world.server.port) { stream in gateway.lead(stream, to: port) }
    let peers = try ["alice", "bob"].map { name in
      let certificate = Certificate.generate(
        name: name, entropy: .stream(simulator.random.stream("certificate/\(name)")), wallClock: WallClock())
      var session = SessionConfiguration(certificate: certificate, cname: name)
      session.media = .synthetic
      var configuration = VirtualPeer.Configuration(
        name: name, session: session,
        servers: [product.serverName: .init(name: product.serverName, endpoint: world.server)])
      configuration.settings = product.settings
      let peer = VirtualPeer(configuration, app: product.app, on: try world.addHost(name), of: simulator)
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
        fflush(nil)
      }
    }
    gateway.run()
  }
}
