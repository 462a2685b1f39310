/// The negotiated section of data channels.
package struct NegotiatedData: Hashable, Sendable {
  /// The MID; made up for a section of a peer without MIDs.
  package let mid: String
  package let mLineIndex: Int
  package let local: SCTPDescription
  package let remote: SCTPDescription
}

extension DescriptionPair {
  /// Returns the result for the section of data channels at `index`, or nil if it is rejected.
  func data(at index: Int, mid: String) -> NegotiatedData? {
    guard answer.media[index].port != 0, let ours = local.media[index].sctp, let theirs = remote.media[index].sctp
    else { return nil }
    return NegotiatedData(mid: mid, mLineIndex: index, local: ours, remote: theirs)
  }
}
