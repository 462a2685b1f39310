internal import CallCore
internal import ExternalRecords
internal import Formats

/// The error of a request that failed: the program's answer, or a timeout.
struct PeerProtocolError: Error, Hashable {
  /// The name of a `DOMException`.
  let name: String
  let message: String
}

/// The client of the peer protocol (docs/peer-protocol.md): requests to a program, its answers and its events.
///
/// ``call(_:_:timeout:)`` waits for the answer, as W3C calls return when they are done. Events that arrive meanwhile
/// are kept in order.
final class PeerProtocolClient {
  /// The timeout of a request.
  static let timeout = Interval.seconds(10)

  typealias Answer = Result<JSON, PeerProtocolError>

  let program: ChildProgram
  private let peer: String
  private var nextID: Int64 = 1
  private var answers: [Int64: Answer] = [:]
  private var pending: [Int64: Request] = [:]
  private var events: [JSON] = []
  /// The first failure of the program, after which no answers are expected.
  private(set) var failure: ExternalError?

  private struct Request {
    let method: String
    let sent: Instant
    let handler: ((Answer) -> Void)?
  }

  init(_ program: ChildProgram, peer: String) {
    self.program = program
    self.peer = peer
  }

  // MARK: Requests

  /// Sends a request; ``receive()`` passes the answer to `handler`, unless the program ends before.
  func send(_ method: String, _ parameters: JSON, handler: ((Answer) -> Void)? = nil) {
    _ = request(method, parameters, handler ?? { _ in })
  }

  /// Sends a request and waits for its answer.
  func call(
    _ method: String, _ parameters: JSON = [:], timeout: Interval = PeerProtocolClient.timeout
  ) -> Answer {
    awaitAnswer(to: request(method, parameters, nil), timeout: timeout)
  }

  /// Sends a request; ``awaitAnswer(to:timeout:)`` waits for the answer.
  func begin(_ method: String, _ parameters: JSON) -> Int64 { request(method, parameters, nil) }

  private func request(_ method: String, _ parameters: JSON, _ handler: ((Answer) -> Void)?) -> Int64 {
    let id = nextID
    nextID += 1
    pending[id] = Request(method: method, sent: MonotonicClock.now, handler: handler)
    program.send(
      JSON.object([.init("id", .integer(id)), .init("method", .string(method)), .init("params", parameters)])
        .description)
    return id
  }

  func awaitAnswer(to id: Int64, timeout: Interval) -> Answer {
    let start = MonotonicClock.now
    while true {
      receive()
      if let answer = answers.removeValue(forKey: id) { return answer }
      if let failure { return .failure(PeerProtocolError(name: "InvalidStateError", message: failure.description)) }
      let left = timeout - (MonotonicClock.now - start)
      guard left > .zero else {
        let what = "did not answer \(pending[id]?.method ?? "a request") within \(timeout)"
        fail(what)
        return .failure(PeerProtocolError(name: "TimeoutError", message: "\(peer)'s program \(what)"))
      }
      program.wait(min(left, .seconds(1)))
    }
  }

  /// Fails the program if a request has been unanswered for longer than `timeout`.
  func checkTimeouts(_ timeout: Interval = PeerProtocolClient.timeout) {
    let now = MonotonicClock.now
    guard let oldest = pending.values.min(by: { $0.sent < $1.sent }), now - oldest.sent > timeout else { return }
    fail("did not answer \(oldest.method) within \(timeout)")
  }

  // MARK: Messages from the program

  /// Reads the program's messages and notices its end.
  func receive() {
    program.flush()
    // Checked before reading, so that everything written before the end is read.
    let ending = program.reap()
    program.receive()
    while let line = program.nextLine() { read(line) }
    guard ending != nil || !program.isOutputOpen, failure == nil else { return }
    fail(program.awaitEnd()?.description ?? "closed its standard output")
  }

  /// Returns the next event of the program, in order.
  func nextEvent() -> JSON? { events.isEmpty ? nil : events.removeFirst() }

  private func read(_ line: [UInt8]) {
    if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) { return }
    guard let message = try? JSON(parsing: line), case .object = message else { return refuse(line) }
    if message["event"]?.string != nil { return events.append(message) }
    guard let answer = answer(in: message), let id = message["id"]?.integer,
      let request = pending.removeValue(forKey: id)
    else { return refuse(line) }
    if let handler = request.handler { handler(answer) } else { answers[id] = answer }
  }

  private func answer(in message: JSON) -> Answer? {
    guard let error = message["error"] else { return message["result"].map { .success($0) } }
    return .failure(
      PeerProtocolError(
        name: error["name"]?.string ?? "OperationError", message: error["message"]?.string ?? error.description))
  }

  private func refuse(_ line: [UInt8]) {
    let said = String(decoding: line.prefix(200), as: UTF8.self)
    fail("wrote a line that is neither an answer to a request nor an event of the peer protocol: \(said)")
  }

  func fail(_ what: String) {
    guard failure == nil else { return }
    let command = program.command.joined(separator: " ")
    failure = ExternalError(.program, "\(peer)'s program (\(command)) \(what)")
  }
}
