internal import Formats
internal import ScenarioFormat
internal import ScenarioRun
internal import ScenarioSearch

/// The outcome of one block.
struct BlockRecord: Sendable {
  /// The hash of the plan that the block is a part of.
  var plan: UInt64
  var block: Int
  /// The number of runs.
  var runCount = 0
  /// The number of runs whose moves all found something to act on.
  var effectiveCount = 0
  /// The runs of which some move met nothing, each with the reason.
  var unmet: [String] = []
  /// The number of different features that the runs showed.
  var featureCount = 0
  var buckets: [Bucket] = []
  /// The runs that came to no verdict, one line each.
  var problems: [String] = []
}

extension BlockRecord {
  var json: JSON {
    [
      "plan": .string(RunResult.hexadecimal(plan)), "block": .integer(Int64(block)), "runs": .integer(Int64(runCount)),
      "effective": .integer(Int64(effectiveCount)), "unmet": .strings(unmet),
      "features": .integer(Int64(featureCount)), "problems": .strings(problems),
      "buckets": .array(buckets.map(\.json)),
    ]
  }

  init?(json: JSON) {
    guard let plan = (json["plan"]?.string).flatMap({ UInt64($0, radix: 16) }),
      let block = json["block"]?.integer, let runs = json["runs"]?.integer, let effective = json["effective"]?.integer,
      let features = json["features"]?.integer,
      let buckets = json["buckets"]?.array
    else { return nil }
    // A damaged file must not lead to numbers that no search has.
    guard block >= 0, block < 1 << 40, (1...Int64(CampaignPlan.blockSize)).contains(runs), effective >= 0, features >= 0
    else { return nil }
    self.init(
      plan: plan, block: Int(block), runCount: Int(runs), effectiveCount: Int(effective), featureCount: Int(features),
      buckets: buckets.compactMap(Bucket.init), problems: json["problems"]?.strings ?? [])
    guard self.buckets.count == buckets.count else { return nil }
    unmet = json["unmet"]?.strings ?? []
  }
}

extension Bucket {
  var json: JSON {
    [
      "signature": .string(check.signature), "title": .string(check.title), "actual": .string(check.actual),
      "count": .integer(Int64(count)), "first": first.json, "last": last.json,
    ]
  }

  init?(json: JSON) {
    guard let signature = json["signature"]?.string, let title = json["title"]?.string,
      let actual = json["actual"]?.string, let count = json["count"]?.integer,
      let first = json["first"].flatMap(Occurrence.init), let last = json["last"].flatMap(Occurrence.init)
    else { return nil }
    guard (1...Int64(CampaignPlan.blockSize)).contains(count) else { return nil }
    let check = BrokenCheck(signature: signature, title: title, actual: actual)
    self.init(check: check, count: Int(count), first: first, last: last)
  }
}

extension Occurrence {
  fileprivate var json: JSON {
    [
      "block": .integer(Int64(block)), "number": .integer(Int64(number)), "cell": .string(cellID),
      "path": .string(path), "seed": .unsigned(seed), "variation": variation.json,
    ]
  }

  fileprivate init?(json: JSON) {
    guard let block = json["block"]?.integer, let number = json["number"]?.integer, let cell = json["cell"]?.string,
      let path = json["path"]?.string, let seed = json["seed"]?.unsigned,
      let variation = json["variation"].flatMap(Variation.init)
    else { return nil }
    self.init(
      block: Int(block), number: Int(number), cellID: cell, path: path, seed: seed, variation: variation)
  }
}

extension Variation {
  var json: JSON {
    var members: [JSON.Member] = [
      .init("kinds", .strings(kinds.map(\.rawValue))), .init("most", .integer(Int64(most))),
    ]
    switch origin {
    case .single(let row): members.append(.init("row", .integer(Int64(row))))
    case .drawn(let choices, let seed):
      members += [.init("choices", .array(choices.map { .unsigned($0) })), .init("seed", .unsigned(seed))]
    }
    return .object(members)
  }

  init?(json: JSON) {
    guard let most = json["most"]?.integer, (1...100).contains(most), let words = json["kinds"]?.strings else {
      return nil
    }
    let kinds = words.compactMap(MoveKind.init)
    if let row = json["row"]?.integer {
      self.init(.single(Int(row)), kinds: kinds, most: Int(most))
    } else if let choices = json["choices"]?.array, let seed = json["seed"]?.unsigned {
      self.init(.drawn(choices: choices.compactMap(\.unsigned), seed: seed), kinds: kinds, most: Int(most))
    } else {
      return nil
    }
  }
}
