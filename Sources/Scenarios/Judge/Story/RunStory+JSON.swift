internal import CallCore
package import Formats

/// The JSON form of a story, for workers and for the page of the HTML report. Times are in nanoseconds.
///
/// Frequent elements are arrays, not objects: their members are identified by position.
extension RunStory {
  package var json: JSON {
    [
      "participants": .array(participants.map { .strings([$0.name, $0.role.rawValue]) }),
      "machines": .array(machines.map(\.json)), "faults": .array(faults.map(\.json)),
      "firings": firings.json { [.of($0.order), .of($0.time), .string($0.entry)] },
      "userActions": userActions.json {
        [
          .of($0.order), .of($0.time), .string($0.peer), .string($0.action), .string($0.target), .bool($0.isRefused),
        ]
      },
      "notes": notes.json {
        [
          .of($0.order), .of($0.time), .string($0.subject), .string($0.kind), $0.code.map(JSON.string) ?? .null,
          .string($0.text),
        ]
      },
      "messages": .array(messages.map(\.json)), "omittedMessages": .of(omittedMessages),
      "pairs": pairs.json {
        [.string($0.subject), .string($0.local), .string($0.remote), .of($0.start), $0.end.map(JSON.of) ?? .null]
      },
      "flows": .array(flows.map(\.json)),
      "drops": .array(
        drops.map { ["reason": .string($0.reason), "place": .string($0.place), "counts": $0.counts.json] }),
      "gauges": .array(gauges.map(\.json)), "end": .of(end),
    ]
  }

  /// Returns nil when a member is missing or has another type.
  package init?(json: JSON) {
    self.init()
    guard let participants = json.list("participants", { Participant(json: $0) }),
      let machines = json.list("machines", { Machine(json: $0) }),
      let faults = json.list("faults", { FaultInterval(json: $0) }),
      let firings = Bounded(json["firings"], { Firing(row: $0) }),
      let userActions = Bounded(json["userActions"], { UserAction(row: $0) }),
      let notes = Bounded(json["notes"], { Note(row: $0) }),
      let messages = json.list("messages", { Message(json: $0) }), let omitted = json["omittedMessages"]?.integer,
      let pairs = Bounded(json["pairs"], { PairInterval(row: $0) }),
      let flows = json.list("flows", { MediaFlow(json: $0) }), let drops = json.list("drops", { DropSeries(json: $0) }),
      let gauges = json.list("gauges", { Gauge(json: $0) }), let end = json["end"]?.instant
    else { return nil }
    self.participants = participants
    self.machines = machines
    self.faults = faults
    self.firings = firings
    self.userActions = userActions
    self.notes = notes
    self.messages = messages
    omittedMessages = Int(omitted)
    self.pairs = pairs
    self.flows = flows
    self.drops = drops
    self.gauges = gauges
    self.end = end
  }
}

extension RunStory.Participant {
  fileprivate init?(json: JSON) {
    let words = json.strings
    guard words.count == 2, let role = Role(rawValue: words[1]) else { return nil }
    self.init(name: words[0], role: role)
  }
}

extension RunStory.Machine {
  fileprivate var json: JSON {
    [
      "subject": .string(subject), "name": .string(name),
      "changes": changes.json { [.of($0.order), .of($0.time), .string($0.value), .bool($0.isInitial)] },
    ]
  }

  fileprivate init?(json: JSON) {
    guard let subject = json["subject"]?.string, let name = json["name"]?.string,
      let changes = Bounded(json["changes"], { Change(row: $0) })
    else { return nil }
    self.init(subject: subject, name: name, changes: changes)
  }
}

extension RunStory.Machine.Change {
  fileprivate init?(row: [JSON]) {
    guard row.count == 4, let order = row[0].integer, let time = row[1].instant, let value = row[2].string,
      let isInitial = row[3].flag
    else { return nil }
    self.init(order: Int(order), time: time, value: value, isInitial: isInitial)
  }
}

extension RunStory.FaultInterval {
  fileprivate var json: JSON {
    [
      "entry": .string(entry), "kind": .string(kind), "label": .string(label), "targets": .strings(targets),
      "lasts": .bool(lasts), "order": .of(order), "start": .of(start),
      "endOrder": endOrder.map { .of($0) } ?? .null, "end": end.map(JSON.of) ?? .null,
    ]
  }

  fileprivate init?(json: JSON) {
    guard let entry = json["entry"]?.string, let kind = json["kind"]?.string, let label = json["label"]?.string,
      let targets = json["targets"]?.strings, let lasts = json["lasts"]?.flag, let order = json["order"]?.integer,
      let start = json["start"]?.instant
    else { return nil }
    self.init(
      entry: entry, kind: kind, label: label, targets: targets, lasts: lasts, order: Int(order), start: start,
      endOrder: json["endOrder"]?.integer.map { Int($0) }, end: json["end"]?.instant)
  }
}

extension RunStory.Firing {
  fileprivate init?(row: [JSON]) {
    guard row.count == 3, let order = row[0].integer, let time = row[1].instant, let entry = row[2].string else {
      return nil
    }
    self.init(order: Int(order), time: time, entry: entry)
  }
}

extension RunStory.UserAction {
  fileprivate init?(row: [JSON]) {
    guard row.count == 6, let order = row[0].integer, let time = row[1].instant, let peer = row[2].string,
      let action = row[3].string, let target = row[4].string, let isRefused = row[5].flag
    else { return nil }
    self.init(order: Int(order), time: time, peer: peer, action: action, target: target, isRefused: isRefused)
  }
}

extension RunStory.Note {
  fileprivate init?(row: [JSON]) {
    guard row.count == 6, let order = row[0].integer, let time = row[1].instant, let subject = row[2].string,
      let kind = row[3].string, let text = row[5].string
    else { return nil }
    self.init(order: Int(order), time: time, subject: subject, kind: kind, code: row[4].string, text: text)
  }
}

extension RunStory.Message {
  fileprivate var json: JSON {
    .array([
      .of(order), .string(from), .string(to), .string(type), .of(sent), .bool(isUnsent), .strings(effects),
      faulted.map(JSON.of) ?? .null, .array(receipts.flatMap { [.of($0.order), .of($0.time)] }),
    ])
  }

  fileprivate init?(json: JSON) {
    guard let row = json.array, row.count == 9, let order = row[0].integer, let from = row[1].string,
      let to = row[2].string, let type = row[3].string, let sent = row[4].instant, let isUnsent = row[5].flag,
      let receipts = row[8].array?.compactMap(\.integer), receipts.count.isMultiple(of: 2)
    else { return nil }
    self.init(
      order: Int(order), from: from, to: to, type: type, sent: sent, isUnsent: isUnsent, effects: row[6].strings,
      faulted: row[7].instant,
      receipts: stride(from: 0, to: receipts.count, by: 2).map {
        Receipt(order: Int(receipts[$0]), time: Instant(nanoseconds: receipts[$0 + 1]))
      })
  }
}

extension RunStory.PairInterval {
  fileprivate init?(row: [JSON]) {
    guard row.count == 5, let subject = row[0].string, let local = row[1].string, let remote = row[2].string,
      let start = row[3].instant
    else { return nil }
    self.init(subject: subject, local: local, remote: remote, start: start, end: row[4].instant)
  }
}

extension RunStory.MediaFlow {
  fileprivate var json: JSON {
    [
      "from": from.map { .string($0) } ?? .null, "to": to.map { .string($0) } ?? .null, "sent": sent.json,
      "received": received.json, "intervals": intervals.json { [.of($0.start), .of($0.end)] },
    ]
  }

  fileprivate init?(json: JSON) {
    guard let sent = json["sent"].flatMap(BinnedSeries.init),
      let received = json["received"].flatMap(BinnedSeries.init),
      let intervals = Bounded(json["intervals"], { RunStory.Span(row: $0) })
    else { return nil }
    self.init(
      from: json["from"]?.string, to: json["to"]?.string, sent: sent, received: received, intervals: intervals)
  }
}

extension RunStory.Span {
  fileprivate init?(row: [JSON]) {
    guard row.count == 2, let start = row[0].instant, let end = row[1].instant else { return nil }
    self.init(start: start, end: end)
  }
}

extension RunStory.DropSeries {
  fileprivate init?(json: JSON) {
    guard let reason = json["reason"]?.string, let place = json["place"]?.string,
      let counts = json["counts"].flatMap(BinnedSeries.init)
    else { return nil }
    self.init(reason: reason, place: place, counts: counts)
  }
}

extension RunStory.Gauge {
  fileprivate var json: JSON {
    [
      "subject": .string(subject), "quantity": .string(quantity.rawValue),
      "points": points.json,
    ]
  }

  fileprivate init?(json: JSON) {
    guard let subject = json["subject"]?.string, let quantity = json["quantity"]?.string.flatMap(Quantity.init),
      let points = json["points"].flatMap(ThinnedSeries.init)
    else { return nil }
    self.init(subject: subject, quantity: quantity, points: points)
  }
}

extension Bounded {
  fileprivate func json(_ row: (Element) -> [JSON]) -> JSON {
    ["omitted": .of(omitted), "list": .array(elements.map { .array(row($0)) })]
  }

  fileprivate init?(_ json: JSON?, _ element: ([JSON]) -> Element?) {
    guard let omitted = json?["omitted"]?.integer, let list = json?["list"]?.array else { return nil }
    let elements = list.compactMap { $0.array.flatMap(element) }
    guard elements.count == list.count else { return nil }
    self.init(elements, omitted: Int(omitted), limit: max(2, elements.count))
  }
}

extension JSON {
  fileprivate static func of(_ number: Int) -> JSON { .integer(Int64(number)) }
  fileprivate static func of(_ time: Instant) -> JSON { .integer(time.nanoseconds) }
  fileprivate var instant: Instant? { integer.map { Instant(nanoseconds: $0) } }

  fileprivate func list<Element>(_ key: String, _ read: (JSON) -> Element?) -> [Element]? {
    guard let list = self[key]?.array else { return nil }
    let elements = list.compactMap(read)
    return elements.count == list.count ? elements : nil
  }
}
