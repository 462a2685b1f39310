package import CallCore

/// What the owner's ICE and DTLS put into a description.
///
/// New credentials are an ICE restart (RFC 8839 §4.4.1.1.1), so the owner passes the old ones for as long as it wants none.
package struct TransportParameters: Hashable, Sendable {
  package var usernameFragment: String
  package var password: String
  package var options: [String]
  package var isLite: Bool
  package var fingerprints: [Fingerprint]
  /// Candidates gathered so far, as `a=candidate` prints them, with or without `candidate:` in front.
  package var candidates: [String]
  package var endOfCandidates: Bool
  /// Where media is expected before ICE has chosen (RFC 9429 §5.2.1); port 9 on no address while nothing is gathered.
  package var defaultEndpoint: Endpoint?

  package init(
    usernameFragment: String, password: String, options: [String] = ["trickle"], isLite: Bool = false,
    fingerprints: [Fingerprint], candidates: [String] = [], endOfCandidates: Bool = false,
    defaultEndpoint: Endpoint? = nil
  ) {
    self.usernameFragment = usernameFragment
    self.password = password
    self.options = options
    self.isLite = isLite
    self.fingerprints = fingerprints
    self.candidates = candidates
    self.endOfCandidates = endOfCandidates
    self.defaultEndpoint = defaultEndpoint
  }
}

/// The value of `a=candidate` in a candidate's text, which JavaScript APIs write with the attribute's name in front.
func candidateValue(_ text: String) -> String {
  let bare = text.utf8.starts(with: "a=".utf8) ? text.dropFirst(2) : text[...]
  return String(bare.utf8.starts(with: "candidate:".utf8) ? bare.dropFirst(10) : bare)
}
