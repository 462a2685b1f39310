internal import CallCore

/// Asks the link for the addresses of `.local` names, with which browsers hide their addresses
/// (draft-ietf-mmusic-mdns-ice-candidates). Its sockets are open only while a question is.
final class MulticastResolver {
  private struct Question {
    let name: String
    let answer: (IPAddress) -> Void
    var asked = 0
    var due: Instant
  }

  /// The number of queries for a name, one second and then two apart (RFC 6762 section 5.2), before it is given up.
  private static let attempts = 3

  private unowned let loop: SocketLoop
  private var sockets: [MulticastSocket] = []
  private var questions: [Question] = []
  private var timer = LoopTimer {}

  init(loop: SocketLoop) {
    self.loop = loop
    timer = loop.makeTimer { [unowned self] in ask() }
  }

  /// Calls `answer` with the first received address of a name; never if there is none.
  func resolve(_ name: String, _ answer: @escaping (IPAddress) -> Void) {
    guard MulticastDNSMessage.isName(name) else { return }
    questions.append(Question(name: name.lowercased(), answer: answer, due: loop.now))
    // Not at once: the caller may not be finished, and listing the interfaces may take long.
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

  /// Handles a message; ignores senders off the link and senders that are not responders (RFC 6762 sections 6 and 11).
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
    // The timer closes the sockets, because one of them is calling this.
    timer.deadline = questions.map(\.due).min() ?? loop.now
  }

  private func settle() {
    timer.deadline = questions.map(\.due).min()
    guard questions.isEmpty else { return }
    for socket in sockets { socket.close() }
    sockets = []
  }
}
