internal import CallCore
internal import ICE

/// Which names stand for which of our addresses, in all that others may see: descriptions, candidates and statistics
/// (draft-ietf-mmusic-mdns-ice-candidates section 3.1).
struct Concealment {
  /// Those of interfaces that are gone too: what hung on them may still be told.
  private var names: [(socket: Endpoint, name: String)] = []
  /// What stands for a foundation, which is made from the address, is its place here.
  private var foundations: [String] = []

  mutating func add(_ interface: LocalInterface) {
    guard let name = interface.concealment, !names.contains(where: { $0.socket == interface.socket }) else { return }
    names.append((interface.socket, name))
  }

  mutating func add(_ candidate: ICECandidate) {
    guard !names.isEmpty, !foundations.contains(candidate.foundation) else { return }
    foundations.append(candidate.foundation)
  }

  /// A local candidate as others may see it: with its name, and without what it was derived from.
  func shown(_ candidate: ICECandidate) -> ICECandidate {
    guard !names.isEmpty else { return candidate }
    var shown = candidate
    // All sockets of an address share its name. A relay may be on the same machine.
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
