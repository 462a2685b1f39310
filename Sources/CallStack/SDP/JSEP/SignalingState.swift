/// RTCSignalingState (W3C WebRTC §4.3.1, RFC 9429 §3.2).
public enum SignalingState: String, Hashable, Sendable, CaseIterable {
  case stable
  case haveLocalOffer = "have-local-offer"
  case haveRemoteOffer = "have-remote-offer"
  case haveLocalPranswer = "have-local-pranswer"
  case haveRemotePranswer = "have-remote-pranswer"
  case closed
}

/// RTCSdpType without `rollback`, which carries no description and is a method of its own.
public enum DescriptionType: String, Hashable, Sendable, CaseIterable {
  case offer, pranswer, answer
}

/// Who set a description.
package enum DescriptionSource {
  case local, remote
}

extension SignalingState {
  /// The state after setting a description here, or nil when that is not allowed (RFC 9429 §3.2, figure 2).
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
