internal import PeerSession
internal import SCTP
internal import VirtualPeer
internal import Vocabulary

/// The data tracks of a room, own ones and those of others. Each is one data channel of the connection to the server.
extension TwilioRoom {
  /// The largest message in bytes.
  static let longestMessage = 16_384

  // MARK: Publishing

  /// Publishes a data track: opens its channel, and tells the server of it.
  func publishData(_ name: String, _ settings: DataChannelInit) throws(ActionError) {
    guard let connection else { return }
    trackCount += 1
    let id = "\(environment.userID)-data-\(trackCount)"
    let channel: DataChannelID
    do throws(SessionError) {
      channel = try connection.createDataChannel(id, settings)
    } catch {
      throw ActionError("\(error)")
    }
    dataTracks.append(TwilioLocalDataTrack(id: id, name: name, channel: channel))
    if !hasDataSection {
      hasDataSection = true
      offer()
    }
    if !isOver { tracksChanged() }
  }

  /// Gives a data track up.
  func unpublishData(_ name: String) throws(ActionError) {
    let track = dataTracks.remove(at: try index(ofData: name))
    connection?.closeDataChannel(track.channel)
    tracksChanged()
  }

  private func index(ofData name: String) throws(ActionError) -> Int {
    if let index = dataTracks.firstIndex(where: { $0.name == name }) { return index }
    throw ActionError("there is no data track '\(name)'; publish-data makes one")
  }

  /// Takes the sid, or the failure, of a data track. Returns false for a track of another kind.
  func take(publishedData entry: JSON) -> Bool {
    guard let index = dataTracks.firstIndex(where: { $0.id == entry["id"]?.string }) else { return false }
    if let sid = entry["sid"]?.string {
      guard dataTracks[index].sid == nil else { return true }
      dataTracks[index].sid = sid
      callbacks.track("localParticipantDidPublishDataTrack")
    } else if let code = entry["error"]?["code"]?.integer {
      fail(index, "\(code)")
    }
    return true
  }

  /// Ends the publication of a data track with an error.
  private func fail(_ index: Int, _ code: String) {
    let track = dataTracks.remove(at: index)
    connection?.closeDataChannel(track.channel)
    failed(track, code)
  }

  private func failed(_ track: TwilioLocalDataTrack, _ code: String) {
    raise(code)
    callbacks.track("localParticipantDidFailToPublishDataTrack", error: TwilioCode.shown(code))
  }

  /// Fails the data tracks that have no sid yet: the room ends with an error.
  func failPendingData(_ code: String) {
    for track in dataTracks where track.sid == nil { failed(track, code) }
  }

  // MARK: Messages

  /// Sends messages on a data track. One that is refused raises a code, and the rest is not sent.
  func send(_ messages: [DataChannelMessage], onData name: String) throws(ActionError) {
    let track = dataTracks[try index(ofData: name)]
    guard let connection,
      connection.dataChannels.contains(where: { $0.channel == track.channel && $0.readyState == .open })
    else { throw ActionError("the data track '\(name)' is not open yet; send once data-track.published counts it") }
    for message in messages {
      guard message.byteCount <= Self.longestMessage else { return trace.raise("53306") }
      do throws(SessionError) {
        try connection.send(message, on: track.channel)
      } catch {
        guard case .operation = error else { throw ActionError("\(error)") }
        return trace.raise("53307")
      }
      dataMessages.sent += 1
      trace.set("data-track.sent", dataMessages.sent)
    }
  }

  /// Follows the channels of the connection.
  func dataHappened(_ event: SessionEvent) {
    switch event {
    case .dataChannel(let channel):
      hasDataSection = true
      remoteDataTracks[channel.channel] = channel.label
      showSubscriptions()
    case .dataChannelError(let id, _): transportFailed(id)
    case .dataChannelStateChange(let id, .closed):
      transportFailed(id)
      if remoteDataTracks.removeValue(forKey: id) != nil { showSubscriptions() }
    case .dataChannelStateChange: showDataTracks()
    case .dataChannelMessage(let id, let message): if let sid = remoteDataTracks[id] { received(message, ofTrack: sid) }
    default: break
    }
  }

  /// Gives up an own track whose channel ended by itself: a channel that this side gives up has no track any more.
  private func transportFailed(_ channel: DataChannelID) {
    guard let index = dataTracks.firstIndex(where: { $0.channel == channel }) else { return }
    fail(index, "53406")
    tracksChanged()
  }

  private func received(_ message: DataChannelMessage, ofTrack sid: String) {
    dataMessages.received += 1
    callbacks.message(message, from: roster.identity(ofTrack: sid), count: dataMessages.received)
  }

  func showDataTracks() {
    trace.set("data-track.published", dataTracks.count { $0.sid != nil && isOpen($0.channel) })
  }

  private func isOpen(_ channel: DataChannelID) -> Bool {
    connection?.dataChannels.contains { $0.channel == channel && $0.readyState == .open } ?? false
  }
}
