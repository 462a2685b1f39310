package import Formats
import PeerSession
import Statistics

extension StatsReport {
  /// Returns the W3C's `RTCStatsReport`: a map from id to `RTCStats`.
  ///
  /// - Parameter timestamp: milliseconds since 1970.
  package func json(timestamp: Double) -> JSON {
    .object(
      entries.map { entry in
        var members: [JSON.Member] = [
          JSON.Member("id", .string(entry.id)), JSON.Member("timestamp", .number(timestamp)),
          JSON.Member("type", .string(entry.type)),
        ]
        if let kind = entry.kind { members.append(JSON.Member("kind", .string(kind))) }
        members += entry.members.map { JSON.Member($0.name, $0.value.json) }
        return JSON.Member(entry.id, .object(members))
      })
  }
}

extension StatsReport.Value {
  package var json: JSON {
    switch self {
    case .integer(let value): .integer(value)
    case .real(let value): .number(value)
    case .flag(let value): .bool(value)
    case .text(let value): .string(value)
    }
  }
}
