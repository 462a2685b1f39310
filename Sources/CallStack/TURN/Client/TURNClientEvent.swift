public import CallCore
public import STUN

extension TURNClient {
  /// What an allocation gave.
  public struct Allocation: Hashable, Sendable {
    public let relayed: Endpoint
    /// The client as the server sees it: a server-reflexive address.
    public let mapped: Endpoint
    public let lifetime: Interval
    public let server: Endpoint
  }

  public enum Event: Hashable, Sendable {
    case allocated(Allocation)
    case permissionGranted(IPAddress)
    case permissionDenied(IPAddress, STUNError)
    case channelBound(Endpoint, number: UInt16)
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

  public enum Failure: Hashable, Sendable {
    /// The server said no.
    case rejected(STUNMethod, STUNError)
    /// No answer to any transmission of a request.
    case timedOut(STUNMethod)
    /// The lifetime ran out before a refresh succeeded.
    case expired
    /// The connection to the server failed or ended.
    case connectionLost
    /// The answer lacks what it must have.
    case badResponse(STUNMethod)

    /// The STUN error code; 701 when the server was not reached (W3C webrtc-pc, RTCPeerConnectionIceErrorEvent).
    public var code: UInt16 {
      if case .rejected(_, let error) = self { error.code } else { 701 }
    }
  }

  /// A caller's mistake.
  public enum Misuse: Error, Hashable, Sendable {
    case notAllocated
    /// The allocation cannot be asked for while there is one.
    case alreadyAllocated
    /// The peer's address is not of the relayed address's family.
    case familyMismatch
    /// The payload does not fit a datagram together with what TURN adds.
    case payloadTooLarge
  }

  public enum State: Hashable, Sendable {
    case idle, allocating, allocated, releasing, released, failed
  }

  public struct Counters: Hashable, Sendable {
    public var requests: UInt64 = 0
    public var retransmissions: UInt64 = 0
    public var staleNonces: UInt64 = 0
    public var indicationsSent: UInt64 = 0
    public var channelDataSent: UInt64 = 0
    public var indicationsReceived: UInt64 = 0
    public var channelDataReceived: UInt64 = 0
    /// Payloads that gave way to newer ones, or whose permission was denied.
    public var droppedPayloads: UInt64 = 0
    public var malformed: UInt64 = 0
    /// Responses whose integrity is missing or wrong.
    public var forged: UInt64 = 0
    /// Responses to no request, data from peers without permission or channel, and datagrams from elsewhere.
    public var unexpected: UInt64 = 0
  }
}

extension TURNClient.Failure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .rejected(let method, let error): "\(method) was refused" + (error.reason.isEmpty ? "" : ": \(error.reason)")
    case .timedOut(let method): "no answer to \(method)"
    case .expired: "the allocation ran out before the server renewed it"
    case .connectionLost: "the connection to the server was lost"
    case .badResponse(let method): "the answer to \(method) lacks what it must have"
    }
  }
}

extension TURNClient.Misuse: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notAllocated: "there is no allocation yet"
    case .alreadyAllocated: "there is an allocation already"
    case .familyMismatch: "the peer's address and the relayed address are not both IPv4, nor both IPv6"
    case .payloadTooLarge: "the payload does not fit a datagram"
    }
  }
}
