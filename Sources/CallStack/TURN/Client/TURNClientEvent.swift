package import CallCore
package import STUN

extension TURNClient {
  /// What an allocation gave.
  package struct Allocation: Hashable, Sendable {
    package let relayed: Endpoint
    /// The relayed address of the other family, when both were asked for and given.
    package let additionalRelayed: Endpoint?
    /// The client as the server sees it: a server-reflexive address.
    package let mapped: Endpoint
    package let lifetime: Interval
    package let server: Endpoint

    /// Every relayed address: one, or one of each family.
    package var relayedAddresses: [Endpoint] { [relayed] + (additionalRelayed.map { [$0] } ?? []) }

    /// The relayed address from which a peer of this family is reached; nil when there is none.
    package func relayed(towards peer: IPAddress) -> Endpoint? {
      if relayed.address.isIPv6 == peer.isIPv6 { return relayed }
      return additionalRelayed.flatMap { $0.address.isIPv6 == peer.isIPv6 ? $0 : nil }
    }
  }

  package enum Event: Hashable, Sendable {
    case allocated(Allocation)
    case permissionGranted(IPAddress)
    /// The server refused the permission, or did not answer. It is not asked again by itself: what is sent there from now
    /// on is refused with ``Misuse/permissionRefused(_:)``.
    case permissionFailed(IPAddress, Failure)
    case channelBound(Endpoint, number: UInt16)
    /// The server refused to bind or renew a channel, or did not answer. Payloads go in indications until the next try.
    case channelFailed(Endpoint, Failure)
    /// A peer's payload; see ``payload(of:on:at:)`` for the way without a copy.
    case data(from: Endpoint, [UInt8])
    /// The server still knows this pair of addresses from an earlier allocation (437): call ``allocate(from:at:)``
    /// with another local address.
    case newLocalAddressNeeded
    /// There is no allocation, or none any more. ``allocate(from:at:)`` starts afresh.
    case failed(Failure)
    /// The allocation was given back after ``release(at:)``.
    case released
  }

  package enum Failure: Hashable, Sendable {
    /// The server said no.
    case rejected(STUNMethod, STUNError)
    /// No answer to any transmission of a request.
    case timedOut(STUNMethod)
    /// The lifetime ran out before a refresh succeeded.
    case expired
    /// The connection to the server failed or ended.
    case connectionLost(reason: String? = nil)
    /// The answer lacks what it must have.
    case badResponse(STUNMethod)

    /// The STUN error code; 701 when the server was not reached (W3C webrtc-pc, RTCPeerConnectionIceErrorEvent).
    package var code: UInt16 {
      if case .rejected(_, let error) = self { error.code } else { 701 }
    }
  }

  /// A caller's mistake.
  package enum Misuse: Error, Hashable, Sendable {
    case notAllocated
    /// The allocation cannot be asked for while there is one.
    case alreadyAllocated
    /// The peer's address is not of the relayed address's family.
    case familyMismatch
    /// The payload does not fit a datagram together with what TURN adds.
    case payloadTooLarge
    /// There is no permission for the peer's address, and asking for one failed for this reason before.
    case permissionRefused(Failure)
  }

  package enum State: Hashable, Sendable {
    case idle, allocating, allocated, releasing, released, failed
  }

  package struct Counters: Hashable, Sendable {
    package var requests: UInt64 = 0
    package var retransmissions: UInt64 = 0
    package var staleNonces: UInt64 = 0
    package var indicationsSent: UInt64 = 0
    package var channelDataSent: UInt64 = 0
    package var indicationsReceived: UInt64 = 0
    package var channelDataReceived: UInt64 = 0
    /// Payloads that gave way to newer ones, or whose permission was denied.
    package var droppedPayloads: UInt64 = 0
    package var malformed: UInt64 = 0
    /// Responses whose integrity is missing or wrong.
    package var forged: UInt64 = 0
    /// Responses to no request, data from peers without permission or channel, and datagrams from elsewhere.
    package var unexpected: UInt64 = 0
  }
}

extension TURNClient.Failure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .rejected(let method, let error): "\(method) was refused" + (error.reason.isEmpty ? "" : ": \(error.reason)")
    case .timedOut(let method): "no answer to \(method)"
    case .expired: "the allocation ran out before the server renewed it"
    case .connectionLost(let reason):
      "the connection to the server was lost" + (reason.map { ": \($0)" } ?? "")
    case .badResponse(let method): "the answer to \(method) lacks what it must have"
    }
  }
}

extension TURNClient.Misuse: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notAllocated: "there is no allocation yet"
    case .alreadyAllocated: "there is an allocation already"
    case .familyMismatch: "the peer's address and the relayed address are not both IPv4, nor both IPv6"
    case .payloadTooLarge: "the payload does not fit a datagram"
    case .permissionRefused(let failure): "there is no permission for the peer's address: \(failure)"
    }
  }
}
