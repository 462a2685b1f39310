internal import CallCore
internal import PeerSession
internal import SDP
internal import Statistics
internal import VirtualPeer
internal import Vocabulary

/// A session at the server: its clients and what each of them gets.
final class VonageServerSession {
  let id: String
  let mode: VonageMode
  private(set) var clients: [VonageClient] = []
  private let environment: ServerEnvironment

  private static let measureTime = Interval.seconds(1)

  init(_ id: String, mode: VonageMode, _ environment: ServerEnvironment) {
    self.id = id
    self.mode = mode
    self.environment = environment
  }

  // MARK: Clients

  func others(than client: VonageClient) -> [VonageClient] { clients.filter { $0 !== client } }

  func add(_ client: VonageClient) {
    for other in clients {
      other.send("connection", [("event", "created"), ("connection", client.connection.json)])
    }
    clients.append(client)
  }

  /// Removes a client, and tells the others why.
  func remove(_ client: VonageClient, reason: String) {
    guard clients.contains(where: { $0 === client }) else { return }
    for published in client.published { destroyed(published, of: client, reason: reason) }
    clients.removeAll { $0 === client }
    client.close()
    for other in clients {
      other.send(
        "connection",
        [("event", "destroyed"), ("connection", client.connection.json), ("reason", .string(reason))])
    }
    update()
  }

  /// The connections of the others.
  func connections(without client: VonageClient) -> JSON { .array(others(than: client).map(\.connection.json)) }

  /// The streams that are known.
  var streams: JSON { .array(clients.flatMap(\.published).filter(\.isAnnounced).map(\.stream.json)) }

  func publisher(of stream: String) -> VonageClient? {
    clients.first { $0.published.contains { $0.stream.id == stream } }
  }

  // MARK: Streams

  func publish(_ published: VonageClient.Published, of client: VonageClient) {
    client.published.append(published)
    if published.isAnnounced { tell("created", published.stream) }
  }

  /// Says again to a client that the others know its stream.
  func repeatCreated(_ published: VonageClient.Published, to client: VonageClient) {
    guard published.isAnnounced else { return }
    client.send("stream", [("event", "created"), ("stream", published.stream.json)])
  }

  private func tell(_ event: String, _ stream: VonageStream, reason: String? = nil) {
    for client in clients {
      client.send("stream", [("event", .string(event)), ("stream", stream.json), ("reason", reason.map(JSON.string))])
    }
  }

  private func destroyed(_ published: VonageClient.Published, of client: VonageClient, reason: String) {
    let stream = published.stream.id
    client.published.removeAll { $0.stream.id == stream }
    for other in clients { unsubscribe(other, from: stream) }
    guard published.isAnnounced else { return }
    for other in others(than: client) {
      other.send(
        "stream", [("event", "destroyed"), ("stream", published.stream.json), ("reason", .string(reason))])
    }
  }

  func unpublish(_ stream: String, of client: VonageClient) {
    guard let published = client.published.first(where: { $0.stream.id == stream }) else { return }
    destroyed(published, of: client, reason: "clientDisconnected")
    update()
  }

  func change(_ stream: String, hasAudio: Bool, hasVideo: Bool, of client: VonageClient) {
    guard let index = client.published.firstIndex(where: { $0.stream.id == stream }) else { return }
    var changed = client.published[index].stream
    (changed.hasAudio, changed.hasVideo) = (hasAudio, hasVideo)
    guard changed != client.published[index].stream else { return }
    client.published[index].stream = changed
    if client.published[index].isAnnounced { tell("changed", changed) }
  }

  /// Lets the others know the streams of a client whose media can come now.
  private func announce(_ client: VonageClient) {
    for index in client.published.indices where !client.published[index].isAnnounced {
      guard client.receivedTrack(.audio, of: client.published[index].stream.id) != nil else { continue }
      client.published[index].isAnnounced = true
      tell("created", client.published[index].stream)
    }
  }

  // MARK: Subscriptions

  func subscribe(_ client: VonageClient, _ wish: VonageClient.Subscription) {
    if let index = client.subscriptions.firstIndex(where: { $0.stream == wish.stream }) {
      (client.subscriptions[index].audio, client.subscriptions[index].video) = (wish.audio, wish.video)
      client.subscriptions[index].number = wish.number
    } else {
      client.subscriptions.append(wish)
    }
  }

  func unsubscribe(_ client: VonageClient, from stream: String) {
    guard let index = client.subscriptions.firstIndex(where: { $0.stream == stream }) else { return }
    let gone = client.subscriptions.remove(at: index)
    let senders = MediaKind.allCases.compactMap { gone.senders[$0] }
    guard !senders.isEmpty, let negotiator = client.negotiator else { return }
    for sender in senders { try? negotiator.connection.stop(sender) }
    if !client.isIdle { offer(client) }
  }

  /// Brings what the router sends up to date: after a negotiation, a change of a subscription or of a stream.
  func update() {
    guard mode == .routed else { return }
    for client in clients { announce(client) }
    for client in clients {
      if client.isIdle { client.closeSeat() }
      guard let negotiator = client.negotiator else { continue }
      var isNew = false
      for index in client.subscriptions.indices where send(index, to: client, negotiator.connection) { isNew = true }
      if isNew { offer(client) }
      measure(client)
    }
  }

  /// Sends the tracks of one subscription, or ceases to.
  ///
  /// - Returns: whether an offer is needed.
  private func send(_ index: Int, to client: VonageClient, _ seat: any PeerConnection) -> Bool {
    let subscription = client.subscriptions[index]
    guard let publisher = publisher(of: subscription.stream) else { return false }
    var isNew = false
    for kind in MediaKind.allCases {
      guard var track = publisher.receivedTrack(kind, of: subscription.stream) else { continue }
      track.id = VonageStream.track(kind, of: subscription.stream)
      let isWanted = kind == .audio ? subscription.audio : subscription.video && !subscription.quality.isDisabled
      if let sender = subscription.senders[kind] {
        let sent = seat.transceivers.first { $0.id == sender }?.sender.track
        if (sent != nil) != isWanted { try? seat.replaceTrack(isWanted ? track : nil, of: sender) }
      } else if isWanted,
        let sender = try? seat.addTransceiver(
          track, TransceiverInit(direction: .sendonly, streamIDs: [subscription.stream]))
      {
        client.subscriptions[index].senders[kind] = sender
        isNew = true
      }
    }
    return isNew
  }

  private func offer(_ client: VonageClient) {
    guard let negotiator = client.negotiator, negotiator.connection.signalingState != .closed else { return }
    do throws(SessionError) { try negotiator.offer() } catch {
      environment.malformed("an offer for \(client.connection.user): \(error)")
    }
  }

  // MARK: Quality

  /// Looks once in a second what the subscriptions to video lose.
  private func measure(_ client: VonageClient) {
    guard client.subscriptions.contains(where: { $0.senders[.video] != nil }) else { return client.measuring = nil }
    guard client.measuring == nil else { return }
    client.measuring = environment.clock.schedule(after: Self.measureTime) { [weak self, weak client] in
      guard let self, let client else { return }
      client.measuring = nil
      judge(client)
      measure(client)
    }
  }

  private func judge(_ client: VonageClient) {
    guard let seat = client.negotiator?.connection else { return }
    let report = seat.statistics()
    var hasChanged = false
    for index in client.subscriptions.indices {
      let subscription = client.subscriptions[index]
      let published = publisher(of: subscription.stream)?.published.first { $0.stream.id == subscription.stream }
      guard let published, published.fallsBack, published.stream.hasVideo, subscription.video else { continue }
      let kind = subscription.quality.isDisabled ? MediaKind.audio : .video
      guard let sender = subscription.senders[kind], let leg = leg(of: sender, seat, report),
        let verdict = client.subscriptions[index].quality.measured(leg)
      else { continue }
      client.send("videoQuality", [("event", .string(verdict.rawValue)), ("stream", .string(subscription.stream))])
      hasChanged = hasChanged || verdict == .disabled || verdict == .enabled
    }
    if hasChanged { update() }
  }

  /// What a sender has sent so far, and what the client's last receiver report tells of it; or that of another sender on
  /// the connection which hardly gets anything through, for all go the same way.
  private func leg(
    of sender: Transceiver.ID, _ seat: any PeerConnection, _ report: StatsReport
  ) -> VideoQuality.Leg? {
    let live = seat.transceivers.filter { $0.sender.track != nil }.compactMap(\.mid)
    let sources = report.entries.filter { entry in
      entry.type == "outbound-rtp" && live.contains { entry["mid"] == .text($0) }
    }
    let shares = sources.compactMap { source -> (mid: StatsReport.Value?, share: Double)? in
      let heard = report.entries.first { $0.type == "remote-inbound-rtp" && $0["localId"] == .text(source.id) }
      guard case .real(let share)? = heard?["fractionLost"] else { return nil }
      return (source["mid"], share)
    }
    guard let mid = seat.transceivers.first(where: { $0.id == sender })?.mid,
      let sent = report.entries.first(where: { $0.type == "outbound-rtp" && $0["mid"] == .text(mid) }),
      case .integer(let packets)? = sent["packetsSent"],
      case .integer(let repeated)? = sent["retransmittedPacketsSent"],
      let own = shares.first(where: { $0.mid == .text(mid) })?.share
    else { return nil }
    let blocked = shares.map(\.share).filter { $0 >= VideoQuality.blockedShare }.max()
    return VideoQuality.Leg(packets: packets, repeated: repeated, reportedLoss: max(own, blocked ?? 0))
  }
}
