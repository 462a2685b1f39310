/// A client's connection to an HTTP server: its requests one after the other, each with one response.
final class HTTPServerConnection {
  /// Called for each request; the next one waits for ``respond(_:)``.
  var onRequest: ((HTTPMessage) -> Void)?
  /// Called for a request of WebSocket, which ends HTTP on the connection: the owner takes the stream.
  var onUpgrade: ((HTTPMessage) -> Void)?
  /// Called for bytes that are no request; the connection ends after the response.
  var onProblem: ((HTTPProblem) -> Void)?
  /// Called once when the client or the network ends the connection.
  var onEnd: (() -> Void)?

  /// The limit of bytes behind a request that has no response yet.
  private static let pipelineLimit = 65_536

  private let stream: PeerStream
  private var parser: HTTPParser
  private var isAnswering = false
  private var isReading = false
  private var keepsAlive = true
  private var isOver = false

  init(_ stream: PeerStream, bodyLimit: Int) {
    self.stream = stream
    parser = HTTPParser(bodyLimit: bodyLimit)
    // The stream keeps the connection until either ends.
    stream.onEvent = { event in self.handle(event) }
  }

  /// Answers the request that was handed over last.
  func respond(_ response: HTTPMessage) {
    guard !isOver, isAnswering else { return }
    isAnswering = false
    var response = response
    if !keepsAlive { response.headers.append(.init(name: "Connection", value: "close")) }
    stream.send(response.encoded)
    guard keepsAlive else { return end { stream.close() } }
    read()
  }

  /// Answers, and ends the connection.
  func close(with response: HTTPMessage) {
    (keepsAlive, isAnswering) = (false, true)
    respond(response)
  }

  /// Resets the connection.
  func abort() { end { stream.abort() } }

  /// Gives up the stream, with the bytes that no request was made of.
  func takeStream() -> (stream: PeerStream, bytes: [UInt8]) {
    end {}
    return (stream, parser.takeRest())
  }

  private func end(_ release: () -> Void) {
    isOver = true
    stream.onEvent = nil
    release()
    let report = onEnd
    (onRequest, onUpgrade, onProblem, onEnd) = (nil, nil, nil, nil)
    report?()
  }

  private func handle(_ event: PeerStream.Event) {
    guard !isOver else { return }
    switch event {
    case .connected: break
    case .received(let bytes):
      parser.append(bytes)
      if isAnswering, parser.byteCount > Self.pipelineLimit { return abort() }
      read()
    case .closed: end {}
    }
  }

  /// Hands over one request after the other, as long as each is answered at once. A response from within does not
  /// begin anew, or many requests in one segment would exhaust the stack.
  private func read() {
    guard !isReading else { return }
    isReading = true
    defer { isReading = false }
    while !isAnswering, !isOver, readOne() {}
  }

  /// - Returns: False if more bytes are needed.
  private func readOne() -> Bool {
    do throws(HTTPProblem) {
      guard let head = try parser.nextHead() else { return false }
      guard head.status == nil else { throw .badHead }
      if head.isUpgrade {
        isAnswering = true
        onUpgrade?(head)
        return true
      }
      guard let request = try parser.next() else { return false }
      isAnswering = true
      keepsAlive = request.keepsAlive
      onRequest?(request)
    } catch {
      isAnswering = true
      onProblem?(error)
    }
    return true
  }
}
