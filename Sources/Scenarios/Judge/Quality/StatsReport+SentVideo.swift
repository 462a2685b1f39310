package import Statistics

extension StatsReport {
  /// The names of the codecs in which pictures are sent.
  package var sentVideoCodecs: [String] {
    entries.filter { $0.type == "outbound-rtp" && $0.kind == "video" && $0.integer("packetsSent") ?? 0 > 0 }
      .compactMap { codec(of: $0)?["mimeType"] }
      .compactMap { type in
        guard case .text(let text) = type else { return nil }
        return text.split(separator: "/").last.map(String.init)
      }
  }
}
