package import CallCore

/// The transport between a TURN client and its server; relays over cheaper transports rank higher.
package enum ICERelayTransport: UInt8, Hashable, Sendable, CaseIterable {
  case tls, tcp, udp

  /// The type preference of the relay: 0 for TLS, 1 for TCP, 2 for UDP, as in libwebrtc.
  package var typePreference: UInt8 { rawValue }
}

/// The priority formulas of RFC 8445 sections 5.1.2.1 and 6.1.2.3.
package enum ICEPriority {
  /// Returns the recommended type preference (RFC 8445 section 5.1.2.2); that of a relay lies in 0...2.
  package static func typePreference(_ type: ICECandidateType) -> UInt8 {
    switch type {
    case .host: 126
    case .peerReflexive: 110
    case .serverReflexive: 100
    case .relay: 0
    }
  }

  /// Computes the priority of a candidate.
  ///
  /// - Precondition: `typePreference` is at most 126 and `component` lies in 1...256.
  package static func candidate(typePreference: UInt8, localPreference: UInt16, component: Int = 1) -> UInt32 {
    precondition(typePreference <= 126 && (1...256).contains(component), "priority inputs out of range")
    return UInt32(typePreference) << 24 | UInt32(localPreference) << 8 | UInt32(256 - component)
  }

  package static func candidate(
    _ type: ICECandidateType, localPreference: UInt16 = .max, component: Int = 1
  ) -> UInt32 {
    candidate(typePreference: typePreference(type), localPreference: localPreference, component: component)
  }

  /// Returns the PRIORITY of a check: that of a peer-reflexive candidate learnt from it (RFC 8445 section 7.1.1).
  package static func peerReflexive(like candidate: UInt32) -> UInt32 {
    UInt32(typePreference(.peerReflexive)) << 24 | candidate & 0x00FF_FFFF
  }

  /// Computes the priority of a pair. Both agents compute the same value, so their checklists have the same order.
  package static func pair(controlling: UInt32, controlled: UInt32) -> UInt64 {
    let (low, high) = (UInt64(min(controlling, controlled)), UInt64(max(controlling, controlled)))
    // Priorities below 2^31 cannot overflow 64 bits. A peer may signal higher ones, so the sum wraps.
    return low << 32 &+ 2 &* high &+ (controlling > controlled ? 1 : 0)
  }
}

extension ICEPriority {
  /// Returns local preferences for addresses, listed best interface first. IPv6 and IPv4 are interleaved so that a long
  /// run of one family does not delay the other (RFC 8421 section 4). The first address gets 65535.
  package static func localPreferences(for addresses: [IPAddress]) -> [UInt16] {
    let v6 = addresses.indices.filter { addresses[$0].isIPv6 }
    let v4 = addresses.indices.filter { !addresses[$0].isIPv6 }
    var preferences = [UInt16](repeating: 0, count: addresses.count)
    guard !addresses.isEmpty else { return preferences }
    // One IPv4 address follows every `stride - 1` IPv6 ones, which spreads the rarer family over the whole list.
    let stride = v4.isEmpty ? Int.max : max(2, (v4.count + v6.count) / v4.count)
    var (next6, next4) = (0, 0)
    for rank in addresses.indices {
      let isFour = next6 == v6.count || (next4 < v4.count && rank % stride == stride - 1)
      let index: Int
      if isFour {
        index = v4[next4]
        next4 += 1
      } else {
        index = v6[next6]
        next6 += 1
      }
      preferences[index] = UInt16(clamping: Int(UInt16.max) - rank)
    }
    return preferences
  }
}
