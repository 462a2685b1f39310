internal import CallCore
internal import PeerSession
internal import Statistics
internal import Vocabulary

/// The peer connections of a server. A server without any writes nothing into the trace.
final class ServerConnections {
  private let media: CallServerHost.Media?
  private let runtime: HostRuntime
  private let random: RandomSource
  private let trace: Trace
  private let name: String
  private var factories: [PeerConnectionFactory] = []
  /// Called with the trace subject of a connection before something that may end streams of it, or all when it is closed.
  var streamsMayEnd: ((_ subject: String, _ isClosing: Bool) -> Void)? {
    didSet { for factory in factories { factory.streamsMayEnd = streamsMayEnd } }
  }

  init(_ media: CallServerHost.Media?, runtime: HostRuntime, random: RandomSource, trace: Trace, name: String) {
    self.media = media
    self.runtime = runtime
    self.random = random
    self.trace = trace
    self.name = name
  }

  func makeFactory(sending source: ServerMediaSource) -> PeerConnectionFactory {
    guard let media else {
      preconditionFailure("\(name) opens peer connections: declare it with opensConnections: true")
    }
    var settings = Device.Settings()
    var configuration = media.session
    // A server needs no permission of an operating system for its microphone.
    settings.isSimulator = true
    switch source {
    case .samples(let source): settings.microphone = source
    case .echo: settings.echoes = true
    case .receivedTracks:
      configuration.forwards = true
      (configuration.audio, configuration.video) = media.forwarded
    }
    let environment = ConnectionEnvironment(
      clock: runtime.clock, network: runtime.network, device: Device(settings: settings, trace: trace, peer: name),
      random: random.scoped("media/\(factories.count + 1)"), media: media.session.media, trace: trace,
      keyLog: media.keyLog, heard: nil)
    let factory = PeerConnectionFactory(
      configuration: configuration, environment: environment, owner: name, names: .peers,
      remotes: PeerNames(media.userIDs))
    factory.streamsMayEnd = streamsMayEnd
    factories.append(factory)
    return factory
  }

  /// Returns where a packet of a forwarded stream comes from; nil for a stream of another owner.
  func origin(of ssrc: UInt32, timestamp: UInt32) -> (ssrc: UInt32, timestamp: UInt32)? {
    factories.lazy.compactMap { $0.origin(of: ssrc, timestamp: timestamp) }.first
  }

  func reports(where isWanted: (String) -> Bool) -> [(subject: String, report: StatsReport)] {
    factories.flatMap { $0.reports(where: isWanted) }
  }

  var openCount: Int { factories.reduce(0) { $0 + $1.openConnections.count } }

  func interfacesChanged() { for factory in factories { factory.interfacesChanged() } }

  func close() {
    for factory in factories {
      for connection in factory.openConnections { connection.close() }
    }
  }
}
