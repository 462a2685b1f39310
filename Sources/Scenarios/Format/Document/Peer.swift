public import CallCore
public import Formats
import Vocabulary

extension Scenario {
  /// The user id of each peer.
  package var userIDs: [String: String] {
    var ids: [String: String] = [:]
    for peer in peers { ids[peer.name] = peer.userID ?? peer.name }
    return ids
  }

  /// Who the peer is to the signalling server. A user id that is no peer's name is itself.
  package func userID(of peer: String) -> String { self.peer(peer)?.userID ?? peer }

  /// A device with an app, after its `use:` profile is merged in.
  public struct Peer: Sendable, Equatable {
    public enum Stack: String, Sendable, CaseIterable { case real, puppet, external }

    /// What a program outside the simulation says to us.
    public enum ProgramProtocol: String, Sendable, CaseIterable {
      /// The peer protocol: the program is the media stack below the profile's app.
      case peer
      /// Nothing: it is on the peer's network, and it ends.
      case none
    }

    public var name = ""
    /// The user id the app registers with; the peer's name when nil.
    public var userID: String?
    /// The vocabulary's name: `knotos`. Nil for a puppet.
    public var profile: Located<String>?
    public var stack = Stack.real
    /// The program of an external stack, with its arguments.
    public var command: [String] = []
    public var programProtocol = ProgramProtocol.peer
    /// The names of the connections that it may have at a time; nil where its profile has a single one, without a name.
    public var connectionNames: [String]?
    /// In the order the device prefers them; the first that is up is used first.
    public var interfaces: [Interface] = []
    public var devices = Devices()
    public var audio = Audio()
    public var ice = ICESettings()
    public var dtls = DTLSSettings()
    public var clock = Clock()
    /// The profile's own settings, typed by its vocabulary; what is not here has the profile's default.
    public var settings = Arguments()
    public var why: String?
    @NotCompared public var span = SourceSpan.builtIn
    public init() {}

    /// The trace subjects of its connections: its own, or one for each name.
    package var connectionSubjects: [String] {
      connectionNames?.map { ConnectionSubject.name(of: $0, at: name) } ?? [name]
    }

    /// Whether calls can reach it: it has an app and below it a media stack, ours or another.
    public var hasCallStack: Bool { stack == .real || (stack == .external && programProtocol == .peer) }

    var playsRecording: Bool {
      if case .file = devices.microphone { hasCallStack } else { false }
    }
  }

  /// One attachment of a peer: `switch-network` names it.
  public struct Interface: Sendable, Equatable {
    public var name: String
    /// A name in ``Topology/networks``.
    public var network: String
    /// A name in ``Topology/links``.
    public var link: String
  }

  public struct Devices: Sendable, Equatable {
    public enum Microphone: Sendable, Equatable {
      case speech, tone, noise, silence
      /// With the path of the file, as the process finds it.
      case file(Recording, path: NotCompared<String>)
    }

    public enum Permission: String, Sendable, CaseIterable { case granted, denied }
    public var microphone = Microphone.speech
    public var permission = Permission.granted
    public init() {}
  }

  public struct Audio: Sendable, Equatable {
    public var ptime: Interval?
    public var bitrate: DataRate?
    public var fec: Bool?
    public var dtx: Bool?
    public var complexity: Int?
    public var cbr: Bool?
    /// The expected loss the encoder is told, as a fraction.
    public var packetLossHint: Double?
    public init() {}
  }

  public struct ICESettings: Sendable, Equatable {
    public enum Policy: String, Sendable, CaseIterable { case all, relay }
    public enum Nomination: String, Sendable, CaseIterable { case regular, aggressive }
    /// When candidates are gathered: once for each generation of credentials, or whenever an interface comes up.
    public enum Gathering: String, Sendable, CaseIterable { case once, continually }
    /// From which sockets an ICE restart gathers.
    public enum RestartSockets: String, Sendable, CaseIterable { case new, same }

    /// Names in ``Topology/servers``; nil means every STUN and TURN server there is.
    public var servers: [Located<String>]?
    /// How the peer reaches TURN servers; nil means every way that a server offers.
    public var turnTransports: [Located<Topology.Server.Transport>]?
    public var policy = Policy.all
    public var nomination = Nomination.aggressive
    public var prune = true
    public var gathering = Gathering.once
    public var restartSockets = RestartSockets.new
    public init() {}

    /// Whether the peer asks the STUN or TURN server of this name.
    package func asks(_ server: String) -> Bool {
      servers.map { names in names.contains { $0.value == server } } ?? true
    }

    func uses(_ transport: Topology.Server.Transport) -> Bool {
      turnTransports.map { wanted in wanted.contains { $0.value == transport } } ?? true
    }
  }

  public struct DTLSSettings: Sendable, Equatable {
    public enum Role: String, Sendable, CaseIterable { case auto, active, passive }
    /// What the answerer picks; `auto` follows RFC 8842.
    public var role = Role.auto
    public init() {}
  }

  public struct Clock: Sendable, Equatable {
    /// How far the peer's wall clock is ahead of the world's.
    public var skew = Interval.zero
    /// How much faster its clock runs, as a fraction.
    public var drift = 0.0
    public init() {}
  }
}
