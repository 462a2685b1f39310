/// The payload format of repair packets.
package enum RepairFormat: Hashable, Sendable, CaseIterable {
  /// RFC 5109 with level 0 alone, on the stream of the media inside RED, as libwebrtc sends it.
  case ulpfec
  /// RFC 8627 with a flexible mask, on a stream of its own.
  case flexFEC
  /// draft-ietf-payload-flexible-fec-scheme-03 with a flexible mask, on a stream of its own: `flexfec-03` of Chromium.
  case flexFECDraft

  /// The largest FEC header, with RED around it where that is used.
  package var maximumHeaderSize: Int {
    switch self {
    case .ulpfec: 18 + REDEncapsulation.overhead
    case .flexFEC: 24
    case .flexFECDraft: 32
    }
  }

  /// The number of consecutive sequence numbers that a mask spans.
  package var maximumSpan: Int {
    switch self {
    case .ulpfec: 48
    case .flexFEC: 110
    case .flexFECDraft: 109
    }
  }
}
