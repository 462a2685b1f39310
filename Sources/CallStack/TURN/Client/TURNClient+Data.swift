internal import CallCore
internal import STUN

/// Payloads to peers.
extension TURNClient {
  mutating func enqueue(_ waiting: Waiting) {
    guard configuration.queueLimit > 0 else {
      counters.droppedPayloads += 1
      return
    }
    if queue.count >= configuration.queueLimit {
      queue.removeFirst()
      counters.droppedPayloads += 1
    }
    queue.append(waiting)
  }

  /// Sends the payloads that waited for the permission of `address`, in order.
  mutating func flushQueue(to address: IPAddress, at now: Instant) {
    guard !queue.isEmpty else { return }
    let waiting = queue
    queue.removeAll()
    for entry in waiting {
      if entry.peer.address == address {
        forward(entry.payload.span.bytes, to: entry.peer, bindsChannel: entry.bindsChannel, at: now)
      } else {
        queue.append(entry)
      }
    }
  }

  mutating func dropQueue(where isDropped: (Endpoint) -> Bool) {
    let before = queue.count
    queue.removeAll { isDropped($0.peer) }
    counters.droppedPayloads += UInt64(before - queue.count)
  }

  /// Sends a payload to a peer with a permission: by its channel, or in an indication until a channel is bound.
  mutating func forward(_ payload: RawSpan, to peer: Endpoint, bindsChannel: Bool, at now: Instant) {
    if let channel = channels.first(where: { $0.peer == peer && $0.isBound(at: now) }) {
      counters.channelDataSent += 1
      outbox.append(on: path) {
        ChannelData.write(payload, channel: channel.number, over: configuration.transport, into: &$0)
      }
      return
    }
    counters.indicationsSent += 1
    let id = STUNTransactionID(from: &random)
    outbox.append(on: path) { PeerIndication.write(.send, payload, peer: peer, id, into: &$0) }
    guard bindsChannel, let threshold = configuration.indicationsBeforeChannel else { return }
    let index = indications.firstIndex { $0.peer == peer } ?? indications.count
    if index == indications.count { indications.append((peer, 0)) }
    indications[index].count += 1
    if indications[index].count >= threshold { bind(peer, at: now) }
  }

  /// Requests a channel unless one is bound, requested, or was refused within the cool-down.
  mutating func bind(_ peer: Endpoint, at now: Instant) {
    if let index = channels.firstIndex(where: { $0.peer == peer }) {
      let purpose = Purpose.channelBind(peer, number: channels[index].number)
      // A refused binding has the time of its next attempt; a removed one has none and starts again here.
      guard channels[index].refreshAt == nil, !channels[index].isBound(at: now),
        !transactions.contains(where: { $0.purpose == purpose })
      else { return }
      begin(purpose, at: now)
      return
    }
    let number = ChannelData.numbers.lowerBound + UInt16(truncatingIfNeeded: channels.count)
    guard ChannelData.numbers.contains(number) else { return }
    channels.append(Channel(peer: peer, number: number))
    begin(.channelBind(peer, number: number), at: now)
  }

  // MARK: Unused permissions

  /// Stops renewing permissions that sending requested and that have not been used for long. They expire on the server,
  /// as do their channels.
  mutating func forgetUnused(at now: Instant) {
    guard let limit = configuration.unusedPermissionLifetime else { return }
    for permission in permissions {
      // Only a due renewal of the permission or its channel has a cost, so the check waits until then.
      guard permission.failure == nil, let used = permission.lastUsedAt, now >= used + limit,
        isRenewalDue(of: permission, at: now)
      else { continue }
      removePermission(for: permission.address)
    }
  }

  private func isRenewalDue(of permission: Permission, at now: Instant) -> Bool {
    if let refreshAt = permission.refreshAt, now >= refreshAt { return true }
    return channels.contains { channel in
      channel.peer.address == permission.address && channel.refreshAt.map { now >= $0 } ?? false
    }
  }
}
