internal import CallCore
internal import ICE

/// The names that replace our addresses in descriptions, candidates and statistics
/// (draft-ietf-mmusic-mdns-ice-candidates section 3.1).
struct AddressObfuscation {
  /// The names, also of removed interfaces, because candidates may still refer to them.
  private var names: [(socket: Endpoint, name: String)] = []
  /// The real foundations, which reveal the address. The index replaces the foundation.
  private var foundations: [String] = []

  mutating func add(_ interface: LocalInterface) {
    guard let name = interface.mdnsName, !names.contains(where: { $0.socket == interface.socket }) else { return }
    names.append((interface.socket, name))
  }

  mutating func add(_ candidate: ICECandidate) {
    guard !names.isEmpty, !foundations.contains(candidate.foundation) else { return }
    foundations.append(candidate.foundation)
  }

  /// Returns a local candidate as others may see it: with its name, and without its related address.
  func shown(_ candidate: ICECandidate) -> ICECandidate {
    guard !names.isEmpty else { return candidate }
    var shown = candidate
    // All sockets of an address share its name. A relay may run on the same machine.
    if candidate.type != .relay, let endpoint = candidate.endpoint,
      let known = names.last(where: { $0.socket.address == endpoint.address })
    {
      shown.address = .name(known.name)
    }
    if case .ip(let related)? = candidate.relatedAddress {
      shown.relatedAddress = .ip(related.isIPv6 ? .anyIPv6 : .anyIPv4)
      shown.relatedPort = 9
    }
    if let place = foundations.firstIndex(of: candidate.foundation) { shown.foundation = "\(place + 1)" }
    return shown
  }
}
