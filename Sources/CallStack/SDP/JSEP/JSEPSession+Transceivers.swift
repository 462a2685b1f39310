extension JSEPSession {
  package func transceiver(_ id: Transceiver.ID) -> Transceiver? { transceivers.first { $0.id == id } }

  @discardableResult
  package mutating func addTransceiver(
    _ kind: MediaKind, direction: MediaDirection = .sendrecv, sender: Transceiver.Sender? = nil, hasTrack: Bool = true
  ) throws(JSEPError) -> Transceiver.ID {
    try requireOpen()
    let id = add(kind, direction: direction, sender: sender, maker: .addTransceiver)
    try setTrack(hasTrack && sender != nil, of: id)
    return id
  }

  /// Adds a track, on a transceiver without one or on a new one (W3C: addTrack).
  @discardableResult
  package mutating func addTrack(_ kind: MediaKind, sender: Transceiver.Sender) throws(JSEPError) -> Transceiver.ID {
    try requireOpen()
    let idle = transceivers.firstIndex {
      $0.kind == kind && !$0.hasTrack && !$0.isStopping && !$0.isStopped && !$0.hasSent
    }
    guard let idle else { return add(kind, direction: .sendrecv, sender: sender, maker: .addTrack) }
    transceivers[idle].sender = sender
    transceivers[idle].hasTrack = true
    transceivers[idle].direction = MediaDirection(sends: true, receives: transceivers[idle].direction.receives)
    transceivers[idle].maker = .addTrack
    return transceivers[idle].id
  }

  /// Stops sending on a transceiver, which continues to receive (W3C: removeTrack).
  package mutating func removeTrack(_ id: Transceiver.ID) throws(JSEPError) {
    let index = try liveIndex(id)
    transceivers[index].sender = nil
    transceivers[index].hasTrack = false
    transceivers[index].direction = MediaDirection(sends: false, receives: transceivers[index].direction.receives)
  }

  /// Sets the sender that descriptions announce from the next one on.
  package mutating func setSender(_ sender: Transceiver.Sender, of id: Transceiver.ID) throws(JSEPError) {
    transceivers[try liveIndex(id)].sender = sender
  }

  /// Sets whether a sender has a track. Descriptions do not show it; a sender without a track can be reused (W3C
  /// `addTrack`).
  package mutating func setTrack(_ hasTrack: Bool, of id: Transceiver.ID) throws(JSEPError) {
    transceivers[try liveIndex(id)].hasTrack = hasTrack
  }

  package mutating func setDirection(_ direction: MediaDirection, of id: Transceiver.ID) throws(JSEPError) {
    transceivers[try liveIndex(id)].direction = direction
  }

  /// Sets the codecs to negotiate, the preferred one first; nil for all of the configuration.
  package mutating func setCodecPreferences(_ codecs: [CodecCapability]?, of id: Transceiver.ID) throws(JSEPError) {
    transceivers[try liveIndex(id)].codecPreferences = codecs
  }

  /// Stops a transceiver: at once if it was never negotiated, otherwise with the next negotiation (W3C: stop).
  package mutating func stop(_ id: Transceiver.ID) throws(JSEPError) {
    let index = try liveIndex(id)
    if transceivers[index].association.mLineIndex == nil {
      transceivers.remove(at: index)
    } else {
      transceivers[index].isStopping = true
    }
  }

  mutating func add(
    _ kind: MediaKind, direction: MediaDirection, sender: Transceiver.Sender?, maker: Transceiver.Maker
  ) -> Transceiver.ID {
    let id = Transceiver.ID(number: nextTransceiver)
    nextTransceiver += 1
    transceivers.append(Transceiver(id: id, kind: kind, direction: direction, sender: sender, maker: maker))
    return id
  }

  private func liveIndex(_ id: Transceiver.ID) throws(JSEPError) -> Int {
    try requireOpen()
    guard let index = transceivers.firstIndex(where: { $0.id == id }) else { throw .unknownTransceiver }
    guard !transceivers[index].isStopping, !transceivers[index].isStopped else { throw .transceiverStopped }
    return index
  }
}
