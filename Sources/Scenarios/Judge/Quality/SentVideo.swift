package import Statistics

/// How many pictures a connection has sent in each codec.
///
/// It takes a report before each change of a description, and when the connection closes: up to then its streams had the codec
/// that the report names.
package struct SentVideo {
  /// The frames by the name of their codec; in a simulcast those of every encoding.
  package private(set) var frames: [String: Int] = [:]
  /// What each stream had sent by the last report.
  private var sent: [String: Int64] = [:]

  package init() {}

  /// Takes the next report of the connection, or its last one.
  package mutating func take(_ report: StatsReport, isClosing: Bool) {
    for stream in report.entries where stream.type == "outbound-rtp" && stream.kind == "video" {
      guard let total = stream.integer("framesSent"), total > 0, let codec = report.codec(of: stream)?.codecName else {
        continue
      }
      let before = sent[stream.id] ?? 0
      let new = total >= before ? total - before : total
      if new > 0 { frames[codec, default: 0] += Int(clamping: new) }
      sent[stream.id] = total
    }
    // The next connection may give its streams the same names.
    if isClosing { sent = [:] }
  }
}

extension StatsReport.Entry {
  /// The name in a codec's media type: `VP8` of `video/VP8`.
  fileprivate var codecName: String? {
    guard case .text(let type)? = self["mimeType"] else { return nil }
    return type.split(separator: "/").last.map(String.init)
  }
}
