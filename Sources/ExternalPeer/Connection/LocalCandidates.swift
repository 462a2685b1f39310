internal import CallCore

/// The local candidates a program has told of: which address each was made from.
///
/// A browser says of a selected candidate what others see. Its base is an address of an interface, found by following
/// `raddr` from a relayed to a reflexive and from there to a host candidate (RFC 8839 section 5.1).
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

  /// The addresses from which `address` was made, itself first.
  func bases(of address: IPAddress) -> [IPAddress] {
    var chain = [address]
    // Relayed, reflexive, host: there is nothing longer, whatever a program says.
    while chain.count < 4, let next = related.last(where: { $0.address == chain[chain.count - 1] }) {
      chain.append(next.base)
    }
    return chain
  }
}
