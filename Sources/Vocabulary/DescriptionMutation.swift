/// A mutation of a session description (RFC 8866) in a message, line by line: the result may be refused, and may not be
/// obeyed before a user accepts.
public enum DescriptionMutation: String, Hashable, Sendable, CaseIterable {
  /// Every media section is rejected: port 0 (RFC 3264 section 6).
  case rejected
  /// The DTLS roles are exchanged (RFC 8842).
  case swappedSetup = "swapped-setup"
  /// One digit of each certificate fingerprint is another (RFC 8122).
  case changedFingerprint = "changed-fingerprint"
  /// The candidates that the sender trickles are in the description, which waits for them.
  case inlineCandidates = "inline-candidates"
  /// The last media section is missing.
  case removedSection = "removed-section"
  /// The last media section is there twice.
  case repeatedSection = "repeated-section"
  /// The ICE credentials are missing (RFC 8839 section 5.4).
  case removedCredentials = "removed-credentials"
  /// The last media section has 2,000 candidates more.
  case manyCandidates = "many-candidates"

  /// Returns the mutated description.
  ///
  /// - Parameter candidates: the candidates of the sender, as values of `candidate` attributes.
  public func mutate(_ sdp: String, candidates: [String] = []) -> String {
    let original = sdp.split(whereSeparator: \.isNewline)
    var lines = original
    let end = sdp.contains("\r\n") ? "\r\n" : "\n"
    let lastSection = lines.lastIndex { $0.hasPrefix("m=") }
    switch self {
    case .rejected: lines = lines.map { $0.hasPrefix("m=") ? Self.rejecting($0) : $0 }
    case .swappedSetup: lines = lines.map(Self.swappingSetup)
    case .changedFingerprint: lines = lines.map { $0.hasPrefix("a=fingerprint:") ? Self.changingDigit($0) : $0 }
    case .inlineCandidates:
      let added = candidates.map { "a=" + ($0.hasPrefix("a=") ? $0.dropFirst(2) : $0[...]) }
      lines += (lastSection == nil ? [] : added).map { $0[...] }
    case .removedSection: if let lastSection { lines.removeSubrange(lastSection...) }
    case .repeatedSection: if let lastSection { lines += lines[lastSection...] }
    case .manyCandidates: if lastSection != nil { lines += Self.addedCandidates }
    case .removedCredentials: lines.removeAll { $0.hasPrefix("a=ice-ufrag:") || $0.hasPrefix("a=ice-pwd:") }
    }
    return lines == original ? sdp : lines.map { $0 + end }.joined()
  }

  /// Candidates of addresses for documentation (RFC 5737), which nobody has.
  private static let addedCandidates: [Substring] = (0..<2_000).map { number in
    "a=candidate:\(number) 1 udp \(1_000_000 + number) 198.51.100.\(1 + number % 250) \(10_000 + number) typ host"
  }

  private static func rejecting(_ line: Substring) -> Substring {
    var words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count > 1 else { return line }
    words[1] = "0"
    return words.joined(separator: " ")[...]
  }

  private static func swappingSetup(_ line: Substring) -> Substring {
    switch line {
    case "a=setup:active": "a=setup:passive"
    case "a=setup:passive", "a=setup:actpass": "a=setup:active"
    default: line
    }
  }

  private static func changingDigit(_ line: Substring) -> Substring {
    guard let last = line.last else { return line }
    return line.dropLast() + (last == "0" ? "1" : "0")
  }
}

/// A mutation of a candidate (RFC 8839) in a message.
public enum CandidateMutation: String, Hashable, Sendable, CaseIterable {
  /// The address is the receiver itself.
  case loopback
  /// The address is 0.0.0.0.
  case unspecified
  /// The port is 1.
  case lowPort = "low-port"

  /// Returns the mutated attribute; unchanged if it has no address.
  public func mutate(_ candidate: String) -> String {
    var words = candidate.split(separator: " ", omittingEmptySubsequences: false)
    // foundation, component, transport, priority, address, port
    guard words.count > 5 else { return candidate }
    switch self {
    case .loopback: words[4] = "127.0.0.1"
    case .unspecified: words[4] = "0.0.0.0"
    case .lowPort: words[5] = "1"
    }
    return words.joined(separator: " ")
  }
}
