internal import CallCore

/// A sans-IO responder for our `.local` names: it announces them, answers queries and sends goodbyes (RFC 6762).
///
/// It does not probe: a name of 122 random bits is unique (draft-ietf-mmusic-mdns-ice-candidates section 3.1.1).
struct MulticastResponder {
  enum Destination: Hashable {
    /// The multicast group on the link of an interface.
    case group(interface: UInt32)
    case host(Endpoint)
  }

  private struct Record {
    let name: String
    let address: InterfaceAddress
    var announcementsLeft = 2
    var sentAt: Instant?
    var due: Instant?

    var type: UInt16 { MulticastDNSMessage.addressType(address.address) }
  }

  /// The lifetime of host records in seconds (RFC 6762 section 10).
  private static let lifetime: UInt32 = 120
  /// The shortest time between two multicasts of a record (section 6).
  private static let period = Interval.seconds(1)

  private var records: [Record] = []
  private var outgoing = FIFO<(message: [UInt8], to: Destination)>()

  var isEmpty: Bool { records.isEmpty }

  /// Announces a name twice, a second apart (section 8.3), and answers queries for it from then on.
  mutating func add(_ name: String, of address: InterfaceAddress, at now: Instant) {
    records.append(Record(name: name.lowercased(), address: address, due: now))
  }

  /// Forgets a name and sends its goodbye (section 10.1).
  mutating func remove(_ name: String) {
    for record in records where record.name == name.lowercased() {
      let goodbye = MulticastDNSMessage.response(record.name, record.address.address, lifetime: 0)
      outgoing.append((goodbye, .group(interface: record.address.index)))
    }
    records.removeAll { $0.name == name.lowercased() }
  }

  mutating func receive(_ message: RawSpan, from source: Endpoint, at now: Instant) {
    guard MulticastDNSMessage.isOnLink(source.address), let query = MulticastDNSMessage.Query(message) else { return }
    for index in records.indices {
      let questions = query.questions.filter { $0.name == records[index].name }
      guard !questions.isEmpty, !isKnown(records[index], to: query) else { continue }
      if source.port != MulticastDNSMessage.port {
        answerLegacy(query, records[index], to: source)
      } else if questions.allSatisfy(\.wantsUnicast), !source.address.isIPv6, isFresh(records[index], at: now) {
        outgoing.append((Self.response(records[index]), .host(source)))
      } else {
        let earliest = max(now, records[index].sentAt.map { $0 + Self.period } ?? now)
        records[index].due = min(records[index].due ?? earliest, earliest)
      }
    }
  }

  mutating func advance(to now: Instant) {
    for index in records.indices {
      guard let due = records[index].due, due <= now else { continue }
      outgoing.append((Self.response(records[index]), .group(interface: records[index].address.index)))
      records[index].sentAt = now
      records[index].announcementsLeft -= 1
      records[index].due = records[index].announcementsLeft > 0 ? now + Self.period : nil
    }
  }

  var deadline: Instant? { records.compactMap(\.due).min() }

  mutating func nextMessage() -> (message: [UInt8], to: Destination)? { outgoing.popFirst() }

  // MARK: Answers

  private static func response(_ record: Record) -> [UInt8] {
    MulticastDNSMessage.response(record.name, record.address.address, lifetime: lifetime)
  }

  /// Returns whether the record was multicast within a quarter of its lifetime (section 5.4).
  private func isFresh(_ record: Record, at now: Instant) -> Bool {
    record.sentAt.map { now - $0 < .seconds(Int64(Self.lifetime / 4)) } ?? false
  }

  /// Returns whether the query lists the record as a known answer (section 7.1).
  private func isKnown(_ record: Record, to query: MulticastDNSMessage.Query) -> Bool {
    query.known.contains { known in
      known.owner == record.name && known.address == record.address.address && known.lifetime >= Self.lifetime / 2
    }
  }

  /// Answers a client of plain DNS with a plain response (section 6.7).
  private mutating func answerLegacy(_ query: MulticastDNSMessage.Query, _ record: Record, to source: Endpoint) {
    guard !source.address.isIPv6 else { return }
    let question = query.questions.first { question in
      question.name == record.name && [record.type, MulticastDNSMessage.RecordType.any].contains(question.type)
    }
    guard let question else { return }
    let answer = MulticastDNSMessage.legacyResponse(to: question, record.address.address, identifier: query.identifier)
    outgoing.append((answer, .host(source)))
  }
}
