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
    // Not now: whoever asks may still be at work, and the list of interfaces may take its time.
    guard sockets.isEmpty else { return timer.deadline = loop.now }
    loop.listAddresses { [weak self] addresses in self?.openSockets(on: addresses ?? []) }
  }

  private func openSockets(on addresses: [InterfaceAddress]) {
    guard sockets.isEmpty, !questions.isEmpty else { return }
    sockets = MulticastSocket.both(on: addresses, loop: loop) { [unowned self] message, source in
      receive(message, from: source)
    }
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

  /// Whoever is not on the link, or not a responder, is not believed (RFC 6762 sections 6 and 11).
  func receive(_ message: RawSpan, from source: Endpoint) {
    guard source.port == MulticastDNSMessage.port, MulticastDNSMessage.isOnLink(source.address) else { return }
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
