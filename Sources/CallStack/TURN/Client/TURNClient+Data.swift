internal import CallCore
internal import STUN

/// Payloads on their way to peers.
extension TURNClient {
  mutating func enqueue(_ payload: [UInt8], to peer: Endpoint) {
    guard configuration.queueLimit > 0 else {
      counters.droppedPayloads += 1
      return
    }
    if queue.count >= configuration.queueLimit {
      queue.removeFirst()
      counters.droppedPayloads += 1
    }
    queue.append((peer, payload))
  }

  /// Sends what waited for the permission of `address`, in order.
  mutating func flushQueue(to address: IPAddress, at now: Instant) {
    guard !queue.isEmpty else { return }
    let waiting = queue
    queue.removeAll()
    for (peer, payload) in waiting {
      if peer.address == address {
        forward(payload.span.bytes, to: peer, at: now)
      } else {
        queue.append((peer, payload))
      }
    }
  }

  mutating func dropQueue(where isDropped: (Endpoint) -> Bool) {
    let before = queue.count
    queue.removeAll { isDropped($0.peer) }
    counters.droppedPayloads += UInt64(before - queue.count)
  }

  /// Sends a payload to a peer that has permission: by its channel, or in an indication until there is one.
  mutating func forward(_ payload: RawSpan, to peer: Endpoint, at now: Instant) {
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
    guard let threshold = configuration.indicationsBeforeChannel else { return }
    let index = indications.firstIndex { $0.peer == peer } ?? indications.count
    if index == indications.count { indications.append((peer, 0)) }
    indications[index].count += 1
    if indications[index].count >= threshold { bind(peer, at: now) }
  }

  /// Asks for a channel unless one is bound, asked for, or was refused a short while ago.
  mutating func bind(_ peer: Endpoint, at now: Instant) {
    if let index = channels.firstIndex(where: { $0.peer == peer }) {
      let purpose = Purpose.channelBind(peer, number: channels[index].number)
      // A refused binding has its next attempt set; a removed one has none and starts again here.
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
}
