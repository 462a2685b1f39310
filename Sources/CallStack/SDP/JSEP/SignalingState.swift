/// RTCSignalingState (W3C WebRTC §4.3.1, RFC 9429 §3.2).
public enum SignalingState: String, Hashable, Sendable, CaseIterable {
  /// No negotiation is in progress.
  case stable
  /// A local offer is set and not answered.
  case haveLocalOffer = "have-local-offer"
  /// A remote offer is set and not answered.
  case haveRemoteOffer = "have-remote-offer"
  /// A remote offer is set and answered provisionally.
  case haveLocalPranswer = "have-local-pranswer"
  /// A local offer is set and answered provisionally.
  case haveRemotePranswer = "have-remote-pranswer"
  /// The connection is closed.
  case closed
}

/// RTCSdpType without `rollback`, which has no description and is a separate method.
package enum DescriptionType: String, Hashable, Sendable, CaseIterable {
  case offer, pranswer, answer
}

/// The side that set a description.
package enum DescriptionSource {
  case local, remote
}

extension SignalingState {
  /// Returns the state after setting a description, or nil when that is not allowed (RFC 9429 §3.2, figure 2).
  package func next(_ source: DescriptionSource, _ type: DescriptionType) -> SignalingState? {
    switch (source, type, self) {
    case (.local, .offer, .stable), (.local, .offer, .haveLocalOffer): .haveLocalOffer
    case (.remote, .offer, .stable), (.remote, .offer, .haveRemoteOffer): .haveRemoteOffer
    case (.local, .answer, .haveRemoteOffer), (.local, .answer, .haveLocalPranswer): .stable
    case (.remote, .answer, .haveLocalOffer), (.remote, .answer, .haveRemotePranswer): .stable
    case (.local, .pranswer, .haveRemoteOffer), (.local, .pranswer, .haveLocalPranswer): .haveLocalPranswer
    case (.remote, .pranswer, .haveLocalOffer), (.remote, .pranswer, .haveRemotePranswer): .haveRemotePranswer
    default: nil
    }
  }
}
