internal import CallCore

/// A client's connection to an HTTP server, which is opened with the first request and again after its end.
final class HTTPClientConnection {
  /// The reason why a request has no response.
  enum Failure: Error { case closed, malformed, tls(String) }

  private let server: Endpoint
  private let network: PeerNetwork
  private var stream: PeerStream?
  private var isConnected = false
  private var parser = HTTPParser(bodyLimit: 10_000_000)
  private var completion: ((Result<HTTPMessage, Failure>) -> Void)?

  init(to server: Endpoint, on network: PeerNetwork) {
    self.server = server
    self.network = network
  }

  /// Whether a request waits for its response.
  var isBusy: Bool { completion != nil }

  /// Whether the device still has the local address; nil without a connection.
  var isLocalAddressAlive: Bool? { stream?.isLocalAddressAlive }

  /// Sends a request, and calls `completion` once.
  func send(_ request: HTTPMessage, _ completion: @escaping (Result<HTTPMessage, Failure>) -> Void) {
    precondition(!isBusy, "a connection has one request at a time")
    self.completion = completion
    open().send(request.encoded)
  }

  private func open() -> PeerStream {
    if let stream { return stream }
    let stream = network.connect(to: server)
    self.stream = stream
    isConnected = false
    parser = HTTPParser(bodyLimit: parser.bodyLimit)
    stream.onEvent = { [weak self] event in self?.handle(event) }
    return stream
  }

  /// Ends the connection, after a last request whose response nobody awaits.
  func close(with request: HTTPMessage? = nil) {
    completion = nil
    if request == nil, stream == nil || !isConnected { return abort() }
    let last = open()
    if let request { last.send(request.encoded) }
    stream = nil
    last.onEvent = nil
    guard !isConnected else { return last.close() }
    // The last request would be lost.
    last.onEvent = { [unowned last] event in if case .connected = event { last.close() } }
  }

  func abort() {
    completion = nil
    stream?.abort()
    stream = nil
  }

  /// Writes that a frame has arrived.
  func traceArrival(ofFrame frame: UInt64) { stream?.traceArrival(ofFrame: frame) }

  private func handle(_ event: PeerStream.Event) {
    switch event {
    case .connected: isConnected = true
    case .received(let bytes):
      parser.append(bytes)
      do throws(HTTPProblem) {
        if let response = try parser.next() { received(response) }
      } catch {
        fail(.malformed)
      }
    case .closed:
      let failure = stream?.tlsFailure
      stream = nil
      fail(failure.map { .tls($0) } ?? .closed)
    }
  }

  private func received(_ response: HTTPMessage) {
    guard response.status != nil, completion != nil else { return fail(.malformed) }
    let report = completion
    completion = nil
    // Nothing more comes: the next request opens another connection.
    if !response.keepsAlive { close() }
    report?(.success(response))
  }

  private func fail(_ failure: Failure) {
    let report = completion
    abort()
    report?(.failure(failure))
  }
}
