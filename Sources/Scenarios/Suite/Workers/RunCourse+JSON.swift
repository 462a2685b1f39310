internal import CallCore
internal import Formats
internal import ScenarioFormat

extension RunCourse {
  /// The JSON form, with times in nanoseconds.
  var json: JSON {
    [
      "stays": .array(stays.map { Self.row([$0.peer, $0.state], $0.from, $0.until) }),
      "passages": .array(passages.map { Self.row([$0.server, $0.type], $0.time, nil) }),
      "connections": .array(connections.map { Self.row([$0.server, $0.peer], $0.from, $0.until) }),
    ]
  }

  init(json: JSON) {
    self.init()
    stays = Self.rows(json["stays"]).map { Stay(peer: $0.names[0], state: $0.names[1], from: $0.from, until: $0.until) }
    passages = Self.rows(json["passages"]).map { Passage(server: $0.names[0], type: $0.names[1], time: $0.from) }
    connections = Self.rows(json["connections"]).map {
      Connection(server: $0.names[0], peer: $0.names[1], from: $0.from, until: $0.until)
    }
  }

  private static func row(_ names: [String], _ from: Instant, _ until: Instant?) -> JSON {
    .array(
      names.map { .string($0) }
        + [from, until].compactMap(\.self).map { .integer(($0 - Instant.zero).nanoseconds) })
  }

  private static func rows(_ json: JSON?) -> [(names: [String], from: Instant, until: Instant?)] {
    (json?.array ?? []).compactMap { row in
      let names = row.array?.compactMap(\.string) ?? []
      let times = row.array?.compactMap(\.integer).map { Instant.zero + .nanoseconds($0) } ?? []
      guard names.count == 2, let from = times.first else { return nil }
      return (names, from, times.dropFirst().first)
    }
  }
}
