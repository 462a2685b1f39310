import CallCore
import SCTP
import Testing

@testable import VirtualPeer

/// What the account of a world's data channels says of each message that comes.
@Suite struct DataChannelLedgerTests {
  private let ledger = DataChannelLedger()
  private let now = Instant.zero + .seconds(1)

  private func ends(_ a: String = "alice", _ b: String = "bob") -> (DataChannelLedger.End, DataChannelLedger.End) {
    (
      ledger.begin("chat", of: ConnectionOwner(a).name, over: a),
      ledger.begin("chat", of: ConnectionOwner(b).name, over: b)
    )
  }

  private struct ConnectionOwner {
    let name: String
    init(_ subject: String) { name = String(subject.prefix { $0 != "/" }) }
  }

  private func text(_ number: Int) -> DataChannelMessage { .string("message \(number)") }

  /// Sends three messages, and says what is told of those that come.
  private func verdicts(of order: [Int]) -> [DataChannelEvents.Verdict] {
    let (alice, bob) = ends()
    for number in 1...3 { ledger.send(text(number), on: alice, at: .zero) }
    return order.map { ledger.receive(text($0), on: bob, at: now).verdict }
  }

  @Test func `messages are told apart by their order`() {
    #expect(verdicts(of: [1, 2, 3]) == [.next, .next, .next])
    #expect(verdicts(of: [1, 3, 2]) == [.next, .early, .late])
    #expect(verdicts(of: [1, 1]) == [.next, .repeated])
    #expect(verdicts(of: [1, 4]) == [.next, .unknown])
  }

  @Test func `what is missing is counted, and how long a message took`() {
    let (alice, bob) = ends()
    for number in 1...3 { ledger.send(text(number), on: alice, at: .zero) }
    let third = ledger.receive(text(3), on: bob, at: now)
    #expect(third.missing == 2 && third.number == 3 && third.latency == .seconds(1))
    #expect(ledger.receive(text(1), on: bob, at: now).missing == 1)
    #expect(ledger.missing(at: bob) == 1)
    #expect(ledger.overdue(of: alice, before: now) == 1 && ledger.overdue(of: alice, before: .zero) == 0)
  }

  @Test func `equal messages count each for itself`() {
    let (alice, bob) = ends()
    for _ in 0..<2 { ledger.send(.string("ping"), on: alice, at: .zero) }
    let verdicts = (0..<3).map { _ in ledger.receive(.string("ping"), on: bob, at: now).verdict }
    #expect(verdicts == [.next, .next, .repeated])
    #expect(ledger.receive(.binary(Array("ping".utf8)), on: bob, at: now).verdict == .unknown)
  }

  @Test func `calls beside each other and after each other keep apart`() {
    let (alice, bob) = ends("alice/to/bob", "bob/to/alice")
    let (carol, dave) = ends("carol/to/dave", "dave/to/carol")
    ledger.send(text(1), on: carol, at: .zero)
    #expect(ledger.receive(text(1), on: bob, at: now).verdict == .unknown)
    #expect(ledger.receive(text(1), on: dave, at: now).verdict == .next)
    for end in [alice, bob, carol, dave] { end.isOver = true }
    let (_, next) = ends("alice/to/bob", "bob/to/alice")
    #expect(ledger.receive(text(1), on: next, at: now).verdict == .unknown)
  }
}
