internal import CallCore

/// The related addresses of the local candidates that a program has reported.
///
/// A browser reports a selected candidate with the address that others see. Its base is the address of an interface,
/// found by following `raddr` from a relayed to a reflexive to a host candidate (RFC 8839 section 5.1).
struct LocalCandidates {
  private var related: [(address: IPAddress, base: IPAddress)] = []

  mutating func add(_ candidate: String) {
    let words = candidate.split(separator: " ")
    guard words.count > 5, let address = IPAddress(String(words[4])),
      let keyword = words.firstIndex(of: "raddr"), keyword + 1 < words.count,
      let base = IPAddress(String(words[keyword + 1])), !base.isUnspecified, base != address
    else { return }
    related.removeAll { $0.address == address }
    related.append((address, base))
  }

  /// Returns `address`, followed by the addresses from which it was derived.
  func bases(of address: IPAddress) -> [IPAddress] {
    var chain = [address]
    // The longest valid chain is relayed, reflexive, host. The limit stops a circular one.
    while chain.count < 4, let next = related.last(where: { $0.address == chain[chain.count - 1] }) {
      chain.append(next.base)
    }
    return chain
  }
}
