internal import CallCore
internal import DTLS
internal import ExternalRecords
internal import Foundation
internal import PeerSession
internal import Pictures
internal import ScenarioFormat
internal import ScenarioJudge
internal import SimNet
internal import Statistics
internal import VirtualPeer
internal import Vocabulary

/// A built world: the simulated network with its hosts, by the names of the scenario.
final class World {
  let scenario: Scenario
  let simulator: Simulator
  let pace: Pace
  private(set) var peers: [VirtualPeer] = []
  private(set) var callServers: [CallServerHost] = []
  private var stun: [(name: String, host: STUNServerHost)] = []
  private var turn: [(name: String, host: TURNServerHost)] = []
  let programs = WorldPrograms()
  /// The service by which servers push to devices.
  let pushes = PushService()
  private var folder: String?
  /// Are called with each connection that closes.
  private var restarts: [(_ connection: String) -> Void] = []
  /// Count as lost what was due while a device stood still.
  private var standstills: [() -> Void] = []
  private let certificates: ServerCertificates
  let dataChannelLedger = DataChannelLedger()
  /// The clock of the timeline and the samplers, which belongs to no peer.
  let timekeeper: HostRuntime

  init(scenario: Scenario, simulator: Simulator) throws {
    self.scenario = scenario
    self.simulator = simulator
    pace = Pace(simulator, isRealTime: scenario.isRealTime)
    certificates = ServerCertificates(random: simulator.random)
    timekeeper = HostRuntime(
      simulator: simulator, host: try simulator.addHost(ReservedName.timekeeper), wallClock: WallClock())
  }

  private var trafficServers: [String: TrafficServer] = [:]

  /// Returns the server for the traffic of other apps of a peer's device, in the network that its own leads to in the end. It is
  /// there from the first such fault on.
  func trafficServer(for peer: String) throws -> TrafficServer {
    guard let first = scenario.peer(peer)?.interfaces.first?.network else {
      throw HarnessError("\(peer) has no network")
    }
    var name = first
    while let next = scenario.topology.network(name)?.uplink?.value { name = next }
    if let known = trafficServers[name] { return known }
    let host = try simulator.addHost("\(ReservedName.trafficServer)/\(name)")
    let way = LinkSettings(delay: Self.trafficDelay)
    try simulator.attach(
      host, to: try simulator.network(name), link: "\(ReservedName.trafficServer)/\(name)", type: .ethernet, tx: way,
      rx: way)
    let server = TrafficServer(HostRuntime(simulator: simulator, host: host, wallClock: WallClock()))
    trafficServers[name] = server
    return server
  }

  /// The delay of the server's own link, each way.
  private static let trafficDelay = Interval.milliseconds(10)

  func peer(_ name: String) -> VirtualPeer? { peers.first { $0.name == name } }
  func stunServer(_ name: String) -> STUNServerHost? { stun.first { $0.name == name }?.host }
  func turnServer(_ name: String) -> TURNServerHost? { turn.first { $0.name == name }?.host }
  func callServer(_ name: String) -> CallServerHost? { callServers.first { $0.name == name } }

  func add(_ peer: VirtualPeer) {
    peers.append(peer)
    pushes.add(peer)
  }
  func add(_ server: CallServerHost) { callServers.append(server) }
  func add(_ server: STUNServerHost, named name: String) { stun.append((name, server)) }
  func add(_ server: TURNServerHost, named name: String) { turn.append((name, server)) }

  /// A certificate of a server for TLS, and its key.
  func identity(_ certificate: Topology.Server.Certificate, of server: String) throws -> TLSIdentity {
    let addresses = simulator.interfaces(of: try simulator.host(server)).flatMap(\.addresses)
    return certificates.identity(certificate, of: server, at: addresses)
  }

  /// The authority that signs servers' certificates: peers trust no other.
  var authority: TLSCertificates { certificates.authority.certificates }

  deinit { if let folder { try? FileManager.default.removeItem(atPath: folder) } }

  /// Returns a folder that is deleted with the world.
  func temporaryFolder() throws -> String {
    if let folder { return folder }
    // The path is short, because programs put sockets into the folder, whose paths are limited. The folder is new and
    // private: it holds the audio of calls.
    var template = Array((NSTemporaryDirectory() + "callsim-\(getpid())-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else {
      throw HarnessError("no temporary folder in \(NSTemporaryDirectory()): \(String(cString: strerror(errno)))")
    }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    folder = path
    return path
  }

  /// Launches servers, then apps, in file order. Programs are started first: they may take long, and virtual time has
  /// not begun.
  func start() throws {
    try programs.startStacks()
    guard programs.failure == nil else { return }
    for server in callServers { server.start() }
    for server in stun { server.host.start() }
    for server in turn { server.host.start() }
    for peer in peers { peer.start() }
    try programs.startPeers()
  }

  /// Ends every app and releases its resources. Servers stay, and close their peer connections.
  func shutDownPeers() {
    for peer in peers { peer.shutDown() }
    for server in callServers { server.closeConnections() }
  }

  /// Ends every profile's server, after the last packet of the peers.
  func shutDownServers() {
    for server in callServers { server.shutDown() }
  }

  /// Returns the resources that exist after the peers were shut down, one line each with the owner; empty when the
  /// world is quiet.
  ///
  /// Packets in a long queue are not counted, nor are allocations that their clients could not release.
  func leftovers(_ paths: RelayPaths) -> [String] {
    var lines = peers.flatMap { peer in peer.leftovers.map { "\(peer.name): \($0)" } }
    for server in callServers {
      func note(_ count: Int, _ what: String) {
        if count > 0 { lines.append("\(server.name): \(Wording.count(count, what)) left") }
      }
      note(server.openTaskCount, "task")
      note(server.openConnectionCount, "peer connection")
    }
    for server in turn {
      for allocation in server.host.allocations where paths.isLeftByClient(allocation, at: simulator.now) {
        lines.append(
          "\(server.name): the allocation of \(allocation.relay) to \(allocation.username) at \(allocation.client) "
            + "was never given back")
      }
    }
    return lines
  }

  /// Whether the messages of an action are still being sent.
  var isSendingData: Bool { peers.contains { $0.dataChannels?.isSending ?? false } }

  /// Returns the messages on reliable data channels that had the time to come and have not.
  func overdueData(at now: Instant) -> [(peer: String, label: String, count: Int)] {
    guard now - .zero > InvariantJudge.dataGrace else { return [] }
    return peers.flatMap { peer in
      (peer.dataChannels?.overdue(before: now - InvariantJudge.dataGrace) ?? []).map { (peer.name, $0.label, $0.count) }
    }
  }

  /// Returns the statistics of an open connection, by its trace subject.
  func statistics(of subject: String) -> StatsReport? {
    let owner = ConnectionSubject.owner(of: subject)
    return peer(owner)?.statistics(of: subject) ?? callServer(owner)?.statistics(of: subject)
  }

  /// Returns where a packet comes from that a server forwards; nil for one that came from its source.
  private func origin(of ssrc: UInt32, timestamp: UInt32) -> (ssrc: UInt32, timestamp: UInt32)? {
    callServers.lazy.compactMap { $0.origin(of: ssrc, timestamp: timestamp) }.first
  }

  private func origin(of position: AudioPosition) -> AudioPosition {
    origin(of: position.ssrc, timestamp: position.timestamp).map {
      AudioPosition(ssrc: $0.ssrc, timestamp: $0.timestamp)
    }
      ?? position
  }

  /// Returns the age of the speech that the peer plays now from a connection, wherever it was spoken; nil while it
  /// plays no speech.
  func mouthToEar(to peer: VirtualPeer, over connection: String) -> Interval? {
    guard let (position, playedAt) = peer.audioRecord.played(over: connection),
      simulator.now - playedAt < .milliseconds(40)
    else {
      return nil
    }
    // Pauses are not compared: with DTX they have no sound with a place in the recording.
    guard isSpeech(at: position) == true else { return nil }
    return recordingTime(of: position).map { playedAt - $0 }
  }

  /// Returns the age of the speech that the peer plays now from a connection, if it is that of the peer with a camera.
  private func mouthToEar(to peer: VirtualPeer, over connection: String, from camera: VideoRecord) -> Interval? {
    guard let played = peer.audioRecord.played(over: connection)?.position,
      let speaker = peers.first(where: { $0.videoRecord === camera }),
      speaker.audioRecord.sends(origin(of: played).ssrc)
    else { return nil }
    return mouthToEar(to: peer, over: connection)
  }

  /// Returns whether what a peer plays was recorded before a time, or so long ago that no record has it.
  func isOld(_ position: AudioPosition, since time: Instant) -> Bool {
    let source = origin(of: position).ssrc
    return recordingTime(of: position).map { $0 <= time } ?? peers.contains { $0.audioRecord.sends(source) }
  }

  /// Returns when what a peer plays was recorded, wherever that was; nil if that is unknown.
  func recordingTime(of position: AudioPosition) -> Instant? {
    let origin = origin(of: position)
    return peers.lazy.compactMap { $0.audioRecord.recordingTime(of: origin) }.first
  }

  /// Returns whether somebody speaks in what a peer plays, wherever that was recorded; nil if that is unknown.
  func isSpeech(at position: AudioPosition) -> Bool? {
    let origin = origin(of: position)
    return peers.lazy.compactMap { $0.audioRecord.isSpeech(at: origin) }.first
  }

  /// Returns how much sound is in a packet of what a peer plays from a connection; nil if that is unknown.
  func packetDuration(to peer: VirtualPeer, over connection: String) -> Interval? {
    guard let (position, _) = peer.audioRecord.played(over: connection) else { return nil }
    let ssrc = origin(of: position).ssrc
    return peers.lazy.compactMap { $0.audioRecord.packetDuration(of: ssrc) }.first
  }

  /// Returns whether what a peer plays from a connection was forwarded by a server.
  func isForwarded(to peer: VirtualPeer, over connection: String) -> Bool {
    guard let (position, _) = peer.audioRecord.played(over: connection) else { return false }
    return origin(of: position.ssrc, timestamp: position.timestamp) != nil
  }

  /// Notes that a connection is closed: what the next one brings goes on with nothing that was said before.
  func connectionClosed(_ connection: String) { for restart in restarts { restart(connection) } }

  /// Calls `body` with all that a peer hears over a connection from now on, and what was said, wherever that was.
  func pairSpeech(over connection: String, _ body: @escaping (HeardPiece) -> Void) {
    guard let peer = peer(ConnectionSubject.owner(of: connection)) else { return }
    for other in peers { other.audioRecord.keepSound() }
    var (mix, standstill) = (HeardMix(), Standstill())
    restarts.append { if $0 == connection { (mix, standstill) = (HeardMix(), Standstill()) } }
    let said = { [unowned self] (count: Int) -> HeardMix.Recorded in
      { [self] place in recorded(place) { $0.sound(at: $1, count: count) } }
    }
    let miss = { (count: Int, time: Instant) in mix.standStill(count, at: time, recorded: said(count), body) }
    peer.audioRecord.listen(to: connection) { [unowned self] heard, places in
      standstill.play(heard.count, at: simulator.now, miss)
      mix.hear(heard, from: places.map(origin), at: simulator.now, recorded: said(heard.count), body)
    }
    standstills.append { [unowned self] in
      if peer.isAudioStandingStill { standstill.pass(to: simulator.now, miss) }
    }
  }

  /// Calls `body` for each 10 ms of sound that were due to be heard over a connection, wherever they were recorded.
  func followSpeech(over connection: String, _ body: @escaping (_ isSpeech: Bool, _ isHeard: Bool) -> Void) {
    guard let peer = peer(ConnectionSubject.owner(of: connection)) else { return }
    var (pairing, standstill) = (SpeechPairing<Void>(), Standstill())
    restarts.append { if $0 == connection { (pairing, standstill) = (SpeechPairing(), Standstill()) } }
    peer.audioRecord.follow(connection) { [unowned self] count, place in
      standstill.play(count, at: simulator.now) { miss(&pairing, $0, at: $1, body) }
      pair(&pairing, count, from: place, body)
    }
    standstills.append { [unowned self] in
      if peer.isAudioStandingStill { standstill.pass(to: simulator.now) { miss(&pairing, $0, at: $1, body) } }
    }
  }

  /// Calls `body` for each 10 ms of sound that were due to be heard by a peer over any of its connections.
  func followSpeech(
    to name: String, _ body: @escaping (_ connection: String, _ isSpeech: Bool, _ isHeard: Bool) -> Void
  ) {
    guard let peer = peer(name) else { return }
    var listening: [String: (pairing: SpeechPairing<Void>, standstill: Standstill)] = [:]
    restarts.append { listening[$0] = nil }
    peer.audioRecord.followAll { [unowned self] connection, count, place in
      var state = listening.removeValue(forKey: connection) ?? (SpeechPairing(), Standstill())
      state.standstill.play(count, at: simulator.now) { miss(&state.pairing, $0, at: $1) { body(connection, $0, $1) } }
      pair(&state.pairing, count, from: place) { body(connection, $0, $1) }
      listening[connection] = state
    }
    standstills.append { [unowned self] in
      guard peer.isAudioStandingStill else { return }
      for (connection, var state) in listening.sorted(by: { $0.key < $1.key }) {
        state.standstill.pass(to: simulator.now) { miss(&state.pairing, $0, at: $1) { body(connection, $0, $1) } }
        listening[connection] = state
      }
    }
  }

  /// Counts as lost what was due while devices stood still.
  func passStandstills() { for pass in standstills { pass() } }

  private func pair(
    _ pairing: inout SpeechPairing<Void>, _ count: Int, from place: PlayedPlace,
    _ body: (_ isSpeech: Bool, _ isHeard: Bool) -> Void
  ) {
    let said = { [self] (position: AudioPosition) in recorded(position) { $0.isSpeech(at: $1, count: count) } }
    pairing.pair((), from: origin(of: place), at: simulator.now, recorded: said) { isSpeech, fate in
      if case .played = fate { body(isSpeech == true, true) } else { body(isSpeech == true, false) }
    }
  }

  /// Calls `body` with what was due while a device stood still.
  private func miss(
    _ pairing: inout SpeechPairing<Void>, _ count: Int, at time: Instant,
    _ body: (_ isSpeech: Bool, _ isHeard: Bool) -> Void
  ) {
    let said = { [self] (position: AudioPosition) in recorded(position) { $0.isSpeech(at: $1, count: count) } }
    pairing.standStill(at: time, recorded: said) { isSpeech, _ in body(isSpeech == true, false) }
  }

  /// Returns what a peer has recorded of the sound at a position, and the position after it.
  private func recorded<Piece>(
    _ position: AudioPosition, by record: (AudioRecord, AudioPosition) -> (piece: Piece, end: AudioPosition)?
  ) -> (piece: Piece, end: AudioPosition)? {
    for peer in peers {
      if let found = record(peer.audioRecord, position) { return found }
    }
    return nil
  }

  /// Returns where in the recordings is what a peer plays.
  private func origin(of place: PlayedPlace) -> PlayedPlace {
    if case .sent(let position) = place { .sent(origin(of: position)) } else { place }
  }

  /// Returns the pictures that the peer shows now for a connection, one of each source, wherever they were taken.
  func shownPictures(
    to peer: VirtualPeer, over connection: String, sampledAt moments: PictureMoments
  ) -> [ShownPicture] {
    peer.videoRecord.shownSources(over: connection).compactMap { source in
      guard let shown = peer.videoRecord.shown(of: source, over: connection), let (_, capture) = taken(shown) else {
        return nil
      }
      return ShownPicture(
        source: source, captured: capture.at,
        sampled: sampledPicture(of: source, to: peer, over: connection, at: moments))
    }
  }

  private func sampledPicture(
    of source: UInt32, to peer: VirtualPeer, over connection: String, at moments: PictureMoments
  ) -> ShownPicture.Sample? {
    let (record, moment) = (peer.videoRecord, moments.moment(before: simulator.now))
    guard let shown = record.shown(of: source, over: connection, at: moment), let (camera, capture) = taken(shown)
    else { return nil }
    // Painted and compared only where it is asked for.
    let pictures = {
      record.picture(of: source, over: connection, at: moment).flatMap { picture in
        capture.isBlack ? nil : camera.original(capture.id).map { (picture, $0) }
      }
    }
    return ShownPicture.Sample(
      captured: capture.at, delay: shown.at - capture.at,
      isNew: shown.at > moments.moment(before: simulator.now - StatsSampler.period),
      lipSync: { self.mouthToEar(to: peer, over: connection, from: camera).map { shown.at - capture.at - $0 } },
      peakSignalToNoise: { pictures().flatMap(PictureFidelity.peakSignalToNoise) },
      structuralSimilarity: { pictures().flatMap(PictureFidelity.structuralSimilarity) })
  }

  /// Returns the peer whose microphone or camera sends a packet, also one that a server forwards.
  func sender(of ssrc: UInt32, timestamp: UInt32) -> String? {
    let source = origin(of: ssrc, timestamp: timestamp)?.ssrc ?? ssrc
    return peers.first { $0.audioRecord.sends(source) || $0.videoRecord.sends(source) }?.name
  }

  /// Whether a shown picture is a black one, which a track sends whose camera is off.
  func isBlack(_ shown: VideoRecord.Shown) -> Bool {
    taken(shown)?.capture.isBlack ?? false
  }

  /// Returns the camera that took a shown picture, also one that a server forwards, and which of its pictures it is.
  private func taken(_ shown: VideoRecord.Shown) -> (camera: VideoRecord, capture: VideoRecord.Capture)? {
    var shown = shown
    if let origin = origin(of: shown.ssrc, timestamp: shown.timestamp) {
      (shown.ssrc, shown.timestamp) = origin
    }
    return peers.lazy.compactMap { other in
      other.videoRecord.capture(of: shown).map { (other.videoRecord, $0) }
    }.first
  }

  /// Pairs the pictures that the other peers' cameras take with those that a peer sees over a connection.
  ///
  /// - Parameter isInside: whether a picture that is taken now belongs to the pairs.
  /// - Returns: a closure that pairs the rest at the end of the run.
  func pairPictures(
    of peer: VirtualPeer, over connection: String, isInside: @escaping () -> Bool,
    _ body: @escaping PicturePairing.Receiver
  ) -> () -> Void {
    let others = peers.filter { other in
      guard other !== peer, let settings = scenario.peer(other.name) else { return false }
      return settings.video != nil
    }
    let cameras = others.map(\.videoRecord)
    let sizes = others.compactMap(\.connections.pictureSize)
    // Which of several cameras is seen first may be chance.
    let largest = sizes.count > 1 ? sizes.max { $0.width * $0.height < $1.width * $1.height } : nil
    let pairing = PicturePairing(cameras: cameras, size: largest, body)
    for camera in cameras {
      let nextBegin = camera.onBegin
      camera.onBegin = { [unowned camera] in
        nextBegin?()
        pairing.begin(camera)
      }
      let next = camera.onCapture
      camera.onCapture = { [unowned camera] number, duration in
        next?(number, duration)
        if isInside() { pairing.take(number, for: duration, from: camera) }
      }
    }
    let next = peer.videoRecord.onShow
    peer.videoRecord.onShow = { [unowned self] shown, picture, other in
      next?(shown, picture, other)
      guard other == connection, let (camera, capture) = taken(shown) else { return }
      pairing.see(picture, number: capture.id, from: camera)
    }
    return pairing.finish
  }
}
