package import CallCore

/// A STUN server. It responds to Binding requests (RFC 8489 section 13) and, with two addresses and two ports, to the
/// NAT behaviour tests of RFC 5780.
package struct STUNBindingServer: SansIO, ~Copyable {
  package typealias Event = Never

  /// The four sockets of an RFC 5780 server: two addresses times two ports.
  package struct BehaviorDiscovery: Hashable, Sendable {
    package var primary: Endpoint
    /// Differs from `primary` in both address and port.
    package var alternate: Endpoint

    package init(primary: Endpoint, alternate: Endpoint) {
      self.primary = primary
      self.alternate = alternate
    }
  }

  package struct Counters: Hashable, Sendable {
    package var requests: UInt64 = 0
    package var indications: UInt64 = 0
    package var errors: UInt64 = 0
    package var malformed: UInt64 = 0
    /// Well-formed messages that are not for a Binding server: responses and other methods.
    package var ignored: UInt64 = 0
  }

  package private(set) var counters = Counters()
  private let discovery: BehaviorDiscovery?
  private let software: String?
  private var responses: [(bytes: [UInt8], path: Path)] = []

  package init(software: String? = nil, behaviorDiscovery: BehaviorDiscovery? = nil) {
    self.software = software
    discovery = behaviorDiscovery
  }

  package mutating func receive(_ datagram: RawSpan, on path: Path, at now: Instant) {
    let message: STUNMessage
    do throws(STUNMalformation) {
      message = try STUNMessage(parsing: datagram)
    } catch {
      if !receiveClassic(datagram, on: path) { counters.malformed += 1 }
      return
    }
    switch (message.method, message.messageClass) {
    case (.binding, .request):
      counters.requests += 1
      answer(message, on: path)
    case (.binding, .indication):
      counters.indications += 1
    default:
      counters.ignored += 1
    }
  }

  private mutating func answer(_ request: STUNMessage, on path: Path) {
    guard request.unknownAttributes.isEmpty else {
      return reject(request, .unknownAttribute, listing: request.unknownAttributes, on: path)
    }
    var origin = path.local
    if let change = request[.changeRequest], !change.isEmpty {
      // A response on a connection cannot have another source address.
      guard let discovery, path.transport == .udp else {
        return reject(
          request, .unknownAttribute, listing: [STUNAttribute.changeRequest.type], on: path)
      }
      if change.contains(.changeIP) { origin.address = discovery.other(than: path.local).address }
      if change.contains(.changePort) { origin.port = discovery.other(than: path.local).port }
    }
    var destination = path.remote
    if let port = request[.responsePort] {
      guard discovery != nil, path.transport == .udp else {
        return reject(request, .unknownAttribute, listing: [STUNAttribute.responsePort.type], on: path)
      }
      destination.port = port
    }
    var response = STUNMessageBuilder(.successResponse, to: request)
    response.append(.xorMappedAddress, path.remote)
    if let discovery {
      response.append(.mappedAddress, path.remote)
      response.append(.responseOrigin, origin)
      response.append(.otherAddress, discovery.other(than: path.local))
    }
    send(
      &response, on: Path(local: origin, remote: destination, transport: path.transport),
      fingerprint: request.hasFingerprint)
  }

  /// Responds to a Binding request of RFC 3489. Debian's `stun`, for example, sends them.
  ///
  /// - Returns: whether the datagram was such a request.
  package mutating func receiveClassic(_ datagram: RawSpan, on path: Path) -> Bool {
    guard path.transport == .udp, let request = ClassicBinding(parsing: datagram) else { return false }
    counters.requests += 1
    answer(request, on: path)
    return true
  }

  private mutating func answer(_ request: ClassicBinding, on path: Path) {
    var origin = path.local
    var unknown = request.unknownAttributes
    if let change = request.change, !change.isEmpty {
      if let other = discovery?.other(than: path.local) {
        if change.contains(.changeIP) { origin.address = other.address }
        if change.contains(.changePort) { origin.port = other.port }
      } else {
        unknown.append(STUNAttribute.changeRequest.type)
      }
    }
    guard unknown.isEmpty else {
      counters.errors += 1
      responses.append((request.failure(.unknownAttribute, listing: unknown), path.unmarked))
      return
    }
    let response = request.success(
      mapped: path.remote, source: origin, changed: discovery?.other(than: path.local))
    responses.append((response, Path(local: origin, remote: path.remote)))
  }

  private mutating func reject(_ request: STUNMessage, _ error: STUNError, listing types: [UInt16], on path: Path) {
    counters.errors += 1
    var response = STUNMessageBuilder(.errorResponse, to: request)
    response.append(.errorCode, error)
    response.append(.unknownAttributes, STUNAttributeTypes(types))
    send(&response, on: path.unmarked, fingerprint: request.hasFingerprint)
  }

  private mutating func send(_ response: inout STUNMessageBuilder, on path: Path, fingerprint: Bool) {
    if let software { response.append(.software, software) }
    if fingerprint { response.appendFingerprint() }
    responses.append((response.bytes, path))
  }

  package mutating func advance(to now: Instant) {}

  package mutating func transmit(into buffer: inout OutputSpan<UInt8>) -> Path? {
    guard !responses.isEmpty else { return nil }
    let (bytes, path) = responses.removeFirst()
    buffer.append(contentsOf: bytes.span.bytes)
    return path
  }

  package mutating func nextEvent() -> Never? { nil }

  package var wake: Wake { .never }
}

extension STUNBindingServer.BehaviorDiscovery {
  /// Returns the socket that differs from `local` in both address and port.
  func other(than local: Endpoint) -> Endpoint {
    Endpoint(
      local.address == primary.address ? alternate.address : primary.address,
      port: local.port == primary.port ? alternate.port : primary.port)
  }
}
