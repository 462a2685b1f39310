internal import CallCore

/// Asks the link for the addresses behind `.local` names, by which browsers hide theirs
/// (draft-ietf-mmusic-mdns-ice-candidates). Its sockets are open only while a question is.
final class MulticastResolver {
  private struct Question {
    let name: String
    let answer: (IPAddress) -> Void
    var asked = 0
    var due: Instant
  }

  /// A name that is not known after this many questions, a second and then two apart (RFC 6762 section 5.2), is not.
  private static let attempts = 3

  private unowned let loop: SocketLoop
  private var sockets: [MulticastSocket] = []
  private var questions: [Question] = []
  private var timer = LoopTimer {}

  init(loop: SocketLoop) {
    self.loop = loop
    timer = loop.makeTimer { [unowned self] in ask() }
  }

  /// Calls `answer` with the first address that anybody gives for a name; never, when nobody does.
  func resolve(_ name: String, _ answer: @escaping (IPAddress) -> Void) {
    guard MulticastDNSMessage.isName(name) else { return }
    questions.append(Question(name: name.lowercased(), answer: answer, due: loop.now))
    if sockets.isEmpty {
      sockets = MulticastSocket.both(on: loop) { [unowned self] message, _ in receive(message) }
    }
    // Not now: whoever asks may still be at work.
    timer.deadline = loop.now
  }

  private func ask() {
    let now = loop.now
    questions.removeAll { $0.due <= now && $0.asked == Self.attempts }
    for index in questions.indices where questions[index].due <= now {
      let message = MulticastDNSMessage.query(for: questions[index].name)
      for socket in sockets { socket.send(message) }
      questions[index].due = now + .seconds(1 << Int64(questions[index].asked))
      questions[index].asked += 1
    }
    settle()
  }

  private func receive(_ message: RawSpan) {
    var answered: [() -> Void] = []
    questions.removeAll { question in
      guard let address = MulticastDNSMessage.addresses(of: question.name, in: message).first else { return false }
      answered.append { question.answer(address) }
      return true
    }
    guard !answered.isEmpty else { return }
    for answer in answered { answer() }
    // The sockets are closed by the timer, not from within the call of one of them.
    timer.deadline = questions.map(\.due).min() ?? loop.now
  }

  private func settle() {
    timer.deadline = questions.map(\.due).min()
    guard questions.isEmpty else { return }
    for socket in sockets { socket.close() }
    sockets = []
  }
}
