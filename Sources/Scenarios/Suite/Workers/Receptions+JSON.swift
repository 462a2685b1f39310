internal import Formats
internal import ScenarioRun

extension Receptions {
  var json: JSON {
    .object([
      .init("heard", Self.json(heard)), .init("seen", Self.json(seen)),
      .init(
        "spoken", .object(spoken.sorted { $0.key < $1.key }.map { .init($0.key, Self.json($0.value.periods)) })),
    ])
  }

  init(json: JSON) {
    self.init()
    heard = Self.pairs(json["heard"])
    seen = Self.pairs(json["seen"])
    guard case .object(let members)? = json["spoken"] else { return }
    for member in members { spoken[member.key] = Presence(periods: Self.periods(member.value)) }
  }

  private static func json(_ pairs: [Pair: Presence]) -> JSON {
    .array(
      pairs.sorted { $0.key < $1.key }.map { pair, presence in
        .array([.string(pair.receiver), .string(pair.sender), json(presence.periods)])
      })
  }

  private static func pairs(_ json: JSON?) -> [Pair: Presence] {
    var pairs: [Pair: Presence] = [:]
    for entry in json?.array ?? [] {
      guard let parts = entry.array, parts.count == 3, let receiver = parts[0].string, let sender = parts[1].string
      else {
        continue
      }
      pairs[Pair(receiver: receiver, sender: sender)] = Presence(periods: periods(parts[2]))
    }
    return pairs
  }

  private static func json(_ periods: [Int]) -> JSON { .array(periods.map { .integer(Int64($0)) }) }

  private static func periods(_ json: JSON) -> [Int] {
    json.array?.compactMap { $0.integer.flatMap(Int.init(exactly:)) } ?? []
  }
}
