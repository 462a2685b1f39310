extension JSEPSession {
  /// Whether an offer would change anything (W3C WebRTC §4.7.3). False while an offer is pending; check again in the
  /// stable state.
  package var negotiationNeeded: Bool {
    guard signalingState == .stable else { return false }
    if dataSection.isWanted, dataSection.stable.mLineIndex == nil { return true }
    return isRestartRequested || transceivers.contains { isNegotiationNeeded(for: $0) }
  }

  private func isNegotiationNeeded(for transceiver: Transceiver) -> Bool {
    guard let current, let index = transceiver.mLineIndex else { return true }
    if transceiver.isStopping { return true }
    let (ours, theirs) = (current.local.media[index], current.remote.media[index])
    let announced = transceiver.sender?.mediaStreamIDs ?? []
    if transceiver.direction.sends, ours.attributes.streamIDs != announced { return true }
    let described = current.local.direction(of: ours)
    let allowed = current.remote.direction(of: theirs).reversed
    guard current.isLocalOffer else { return described != transceiver.direction.intersection(allowed) }
    return described != transceiver.direction && allowed != transceiver.direction
  }
}
