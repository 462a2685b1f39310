internal import CallCore
internal import STUN

/// Data between clients and peers (RFC 8656 sections 11 and 12).
extension TURNServer {
  mutating func relayToPeer(_ payload: RawSpan, channel: UInt16, on path: Path, at now: Instant) {
    guard let allocation = byClient[FiveTuple(path)].flatMap({ slots[$0] }) else {
      counters.droppedWithoutAllocation += 1
      return
    }
    // A binding lives twice as long as the permission that it created; data needs both.
    guard let peer = allocation.peer(of: channel, at: now) else {
      counters.droppedWithoutChannel += 1
      if allocation.misses(channel: channel, at: now) { counters.missedChannels += 1 }
      return
    }
    relay(payload, of: allocation, to: peer, at: now)
  }

  mutating func relayToPeer(indication: RawSpan, on path: Path, at now: Instant) {
    guard let (peer, range) = PeerIndication.parse(indication) else {
      counters.malformed += 1
      return
    }
    guard let allocation = byClient[FiveTuple(path)].flatMap({ slots[$0] }) else {
      counters.droppedWithoutAllocation += 1
      return
    }
    relay(indication.extracting(range), of: allocation, to: peer, at: now)
  }

  private mutating func relay(_ payload: RawSpan, of allocation: ServerAllocation, to peer: Endpoint, at now: Instant) {
    guard allocation.permits(peer.address, at: now), !served.contains(peer),
      let relay = allocation.relay(towards: peer.address)
    else {
      counters.droppedWithoutPermission += 1
      if allocation.misses(permissionFor: peer.address, at: now) { counters.missedPermissions += 1 }
      return
    }
    guard payload.byteCount <= maximumDatagramSize else {
      counters.droppedTooLarge += 1
      return
    }
    counters.relayedToPeers += 1
    outbox.append(on: Path(local: relay, remote: peer)) { bytes in
      payload.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }
  }

  /// Relays a datagram that arrived at a relayed address to its client.
  mutating func relayToClient(_ payload: RawSpan, from peer: Endpoint, _ index: Int, at now: Instant) {
    guard let allocation = slots[index] else { return }
    guard allocation.permits(peer.address, at: now) else {
      counters.droppedWithoutPermission += 1
      if allocation.misses(permissionFor: peer.address, at: now) { counters.missedPermissions += 1 }
      return
    }
    let channel = allocation.channel(to: peer, at: now)
    if channel == nil, allocation.misses(channelTo: peer, at: now) { counters.missedChannels += 1 }
    let transport = allocation.tuple.transport
    let overhead = channel == nil ? PeerIndication.overhead : ChannelData.overhead(over: transport)
    guard payload.byteCount + overhead <= maximumDatagramSize else {
      counters.droppedTooLarge += 1
      return
    }
    counters.relayedToClients += 1
    if let channel {
      outbox.append(on: allocation.tuple.path) {
        ChannelData.write(payload, channel: channel, over: transport, into: &$0)
      }
    } else {
      let id = STUNTransactionID(from: &random)
      outbox.append(on: allocation.tuple.path) { PeerIndication.write(.data, payload, peer: peer, id, into: &$0) }
    }
  }
}
