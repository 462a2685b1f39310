import CallCore
import DTLS
import PeerSession
import StackWorlds

/// What may cross the wire, whatever goes wrong: STUN, DTLS handshakes and alerts, TURN's ChannelData, and media that is
/// protected.
extension SessionPair {
  /// What crossed the wire that should not have, in words.
  var leaks: [String] {
    var prefixes: Set<UInt64> = []
    for side in [a, b] {
      for case .mediaSent(_, _, let prefix) in side.observations { prefixes.insert(prefix) }
    }
    return sent.compactMap { datagram in
      let bytes = datagram.bytes.span.bytes
      switch datagram.bytes.first ?? 0xFF {
      case 0...3, 20...22, 64...79: return nil
      // A DTLS record of application data: nothing here has any to send.
      case 23: return "application data at \(datagram.time)"
      case 128...191:
        let isRTCP = (192...223).contains(bytes.byte(at: 1) ?? 0)
        // The sender's part of an RTCP packet is always in clear, all behind it is not: E is set (RFC 3711 section 3.4).
        if isRTCP { return isEncryptedRTCP(datagram.bytes) ? nil : "RTCP in clear at \(datagram.time)" }
        let prefix = bytes.bigEndian(UInt64.self, at: 12) ?? 0
        return prefixes.contains(prefix) ? "a payload in clear at \(datagram.time)" : nil
      default: return "what is this: \(datagram.bytes.prefix(4)) at \(datagram.time)"
      }
    }
  }

  /// The E bit of the SRTCP index, which stands before the tag of AES-CM with HMAC-SHA1 and at the end of AES-GCM.
  private func isEncryptedRTCP(_ bytes: [UInt8]) -> Bool {
    [bytes.count - 4, bytes.count - 14].contains { $0 >= 8 && bytes[$0] & 0x80 != 0 }
  }

  /// Whether any media left before its sender held keys.
  var hasEarlyMedia: Bool {
    for side in [a, b] {
      let isConnected = side.events.contains { if case .dtlsStateChange(.connected) = $0 { true } else { false } }
      let isFromA = side === a
      if !isConnected, sent.contains(where: { $0.fromA == isFromA && $0.isMedia }) { return true }
    }
    return false
  }
}

extension SessionPair.Side {
  /// The words for what was discarded, each once, in order of first appearance.
  var discarded: [String] {
    var words: [String] = []
    for case .packetDiscarded(let what, _) in observations where !words.contains("\(what)") { words.append("\(what)") }
    return words
  }

  var failures: [String] {
    events.compactMap { if case .dtlsFailed(let reason) = $0 { reason } else { nil } }
  }
}
