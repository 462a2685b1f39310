package import CallCore
package import STUN

extension TURNClient {
  /// The result of an allocation.
  package struct Allocation: Hashable, Sendable {
    package let relayed: Endpoint
    /// The relayed address of the other family, if both were requested and granted.
    package let additionalRelayed: Endpoint?
    /// The client's mapped address: a server-reflexive address.
    package let mapped: Endpoint
    package let lifetime: Interval
    package let server: Endpoint

    /// The relayed addresses: one, or one of each family.
    package var relayedAddresses: [Endpoint] { [relayed] + (additionalRelayed.map { [$0] } ?? []) }

    /// Returns the relayed address that reaches a peer's family, or nil if there is none.
    package func relayed(towards peer: IPAddress) -> Endpoint? {
      if relayed.address.isIPv6 == peer.isIPv6 { return relayed }
      return additionalRelayed.flatMap { $0.address.isIPv6 == peer.isIPv6 ? $0 : nil }
    }
  }

  package enum Event: Hashable, Sendable {
    case allocated(Allocation)
    case permissionGranted(IPAddress)
    /// The server refused the permission or did not respond. The client does not repeat the request; payloads to the
    /// address now fail with ``Misuse/permissionRefused(_:)``.
    case permissionFailed(IPAddress, Failure)
    case channelBound(Endpoint, number: UInt16)
    /// The server refused to bind or renew a channel, or did not respond. Payloads go in indications until the next
    /// attempt.
    case channelFailed(Endpoint, Failure)
    /// A peer's payload; ``payload(of:on:at:)`` reads it without a copy.
    case data(from: Endpoint, [UInt8])
    /// The server still has an allocation for this pair of addresses (437): call ``allocate(from:at:)`` with another
    /// local address.
    case newLocalAddressNeeded
    /// The allocation failed or ended. ``allocate(from:at:)`` starts again.
    case failed(Failure)
    /// The allocation was released after ``release(at:)``.
    case released
  }

  package enum Failure: Hashable, Sendable {
    /// The server refused a request.
    case rejected(STUNMethod, STUNError)
    /// No transmission of a request got a response.
    case timedOut(STUNMethod)
    /// The lifetime ended before a refresh succeeded.
    case expired
    /// The connection to the server failed or ended.
    case connectionLost(reason: String? = nil)
    /// The response lacks a required attribute.
    case badResponse(STUNMethod)

    /// The STUN error code; 701 when the server was not reached (W3C webrtc-pc, RTCPeerConnectionIceErrorEvent).
    package var code: UInt16 {
      if case .rejected(_, let error) = self { error.code } else { 701 }
    }
  }

  /// An error in the use of a client.
  package enum Misuse: Error, Hashable, Sendable {
    case notAllocated
    /// The client has an allocation or is requesting one.
    case alreadyAllocated
    /// The peer's address is not of the relayed address's family.
    case familyMismatch
    /// The payload does not fit a datagram with the TURN header.
    case payloadTooLarge
    /// The peer's address has no permission, and a request for one failed before for this reason.
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
    /// Payloads that were dropped for newer ones, or because their permission was refused.
    package var droppedPayloads: UInt64 = 0
    package var malformed: UInt64 = 0
    /// Responses whose integrity is missing or wrong.
    package var forged: UInt64 = 0
    /// Responses without a pending request, data from peers without permission or channel, and datagrams from other
    /// addresses.
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
