package import CallCore

/// The parameters of the owner's ICE and DTLS for a description.
///
/// New credentials cause an ICE restart (RFC 8839 §4.4.1.1.1), so the owner passes the old ones until it wants a
/// restart.
package struct TransportParameters: Hashable, Sendable {
  package var usernameFragment: String
  package var password: String
  package var options: [String]
  package var isLite: Bool
  /// The certificate's fingerprints; empty without DTLS.
  package var fingerprints: [Fingerprint]
  /// The candidates gathered so far, as `a=candidate` text with or without `candidate:` in front.
  package var candidates: [String]
  package var endOfCandidates: Bool
  /// The default destination of media until ICE has selected a pair (RFC 9429 §5.2.1); nil for port 9 on no address
  /// while nothing is gathered.
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

/// Returns the value of `a=candidate` from a candidate's text, in which JavaScript APIs include the attribute's name.
func candidateValue(_ text: String) -> String {
  let bare = text.utf8.starts(with: "a=".utf8) ? text.dropFirst(2) : text[...]
  return String(bare.utf8.starts(with: "candidate:".utf8) ? bare.dropFirst(10) : bare)
}
