internal import CallCore
package import Formats
internal import LibC
internal import PeerSession
internal import SDP

/// The command `callsim live`: sets up a call in one of its modes and runs it to the end.
package final class LiveProgram {
  package enum Mode {
    /// Makes an offer and takes the answer by files, or by standard output and input where a path is nil.
    case offer(localPath: String?, remotePath: String?)
    /// Takes an offer and makes the answer in the same way.
    case answer(localPath: String?, remotePath: String?)
    /// Answers calls over HTTP, until a signal comes or for one call.
    case serve(host: String, port: Int, once: Bool)
    /// Calls another program's HTTP endpoint.
    case call(HTTPPlace)
  }

  private let mode: Mode
  private var settings: CallSettings
  private let loop = SocketLoop()
  private let output: (String) throws(FileError) -> Void
  private var log: (String) -> Void { settings.log }
  private var call: LiveCall?
  private var exchange: DescriptionExchange?
  private var service: CallService?
  private var end: CallEnd?
  private var failure: (any Error)?
  private var isInterrupted = false
  /// The first error in writing output.
  package private(set) var lostOutput: FileError?

  /// - Parameters:
  ///   - output: writes descriptions and JSON to standard output.
  ///   - log: writes a line for the user.
  package init(
    _ mode: Mode, _ settings: CallSettings, output: @escaping (String) throws(FileError) -> Void,
    log: @escaping (String) -> Void
  ) {
    self.mode = mode
    self.settings = settings
    self.settings.log = log
    self.output = output
  }

  /// Runs the call to its end.
  ///
  /// - Returns: the end of the last call, or nil if there was none.
  /// - Throws: if a setting, a file or a description cannot be used.
  package func run() throws -> CallEnd? {
    let signals = SignalWatch(on: loop) { [unowned self] in interrupt() }
    defer { withExtendedLifetime(signals) {} }
    try settings.prepareFiles()
    switch mode {
    case .offer(let local, let remote): try exchange(local, remote, isOfferer: true)
    case .answer(let local, let remote): try exchange(local, remote, isOfferer: false)
    case .serve(let host, let port, let once): try serve(host, port, once: once)
    case .call(let place): try call(place)
    }
    if let failure { throw failure }
    return end
  }

  /// Hangs up and accepts no more calls; the second interrupt stops the loop at once.
  private func interrupt() {
    let isFirst = !isInterrupted
    isInterrupted = true
    if isFirst, service == nil, let call, call.end == nil { return call.hangUp() }
    loop.stop()
  }

  private func lose(_ error: FileError) {
    if lostOutput == nil { lostOutput = error }
  }

  private func makeCall() throws -> LiveCall {
    let made = try LiveCall(settings, loop: loop)
    made.output = { [unowned self] text in
      do throws(FileError) { try output(text) } catch { lose(error) }
    }
    call = made
    return made
  }

  /// Runs the loop until the call has ended, sent BYE and released its relays.
  private func runToEnd(of call: LiveCall) {
    loop.run()
    while !call.connection.isSilent, call.end != nil { loop.turn() }
  }

  // MARK: Files and pasting

  private func exchange(_ local: String?, _ remote: String?, isOfferer: Bool) throws {
    let exchange = DescriptionExchange(
      localPath: local, remotePath: remote, asJSON: settings.stats == .json, loop: loop, output: output,
      log: log)
    try exchange.check()
    self.exchange = exchange
    let call = try makeCall()
    call.onEnd = { [unowned self] in finish($0) }
    call.onLocalDescription = { [unowned self, unowned call] description in
      do throws(FileError) {
        try exchange.send(description)
        if isOfferer { awaitAnswer(remote) }
      } catch {
        lose(error)
        call.finish(.signallingFailure)
      }
    }
    if isOfferer {
      try call.offer()
    } else {
      log(remote.map { "waiting for the offer in \($0)" } ?? "paste the offer; an empty line ends it")
      exchange.awaitRemote(isAnswer: false) { [unowned self] in
        take($0)
      } onFailure: { [unowned self] in
        fail($0)
      }
    }
    runToEnd(of: call)
  }

  private func awaitAnswer(_ remote: String?) {
    log(remote.map { "waiting for the answer in \($0)" } ?? "paste the answer; an empty line ends it")
    exchange?.awaitRemote(isAnswer: true) { [unowned self] in
      take($0)
    } onFailure: { [unowned self] in
      fail($0)
    }
  }

  /// Applies the remote description.
  private func take(_ sdp: String) {
    guard let call else { return }
    do throws(SessionError) {
      if call.connection.signalingState == .haveLocalOffer {
        try call.accept(answer: sdp)
      } else {
        try call.answer(sdp)
        call.limitSetupOnceAnswerArrives()
      }
    } catch {
      return call.fail(error)
    }
    guard call.end == nil else { return }
    do throws(FileError) { try call.openFiles() } catch { fail(error) }
  }

  private func fail(_ error: any Error) {
    failure = error
    call?.finish(.signallingFailure)
  }

  private func finish(_ end: CallEnd) {
    note(end)
    loop.stop()
  }

  private func note(_ end: CallEnd) {
    self.end = end
    if let lost = call?.lostFile { lose(lost) }
  }

  // MARK: HTTP

  private func serve(_ host: String, _ port: Int, once: Bool) throws {
    let service = CallService(
      loop: loop, host: host, log: log, makeCall: { [unowned self] in try makeCall() },
      onEnd: { [unowned self] end in
        // A refused description never became a call, so only its sender is told.
        guard !end.isRefusal else { return }
        note(end)
        guard once else { return }
        self.service?.stop()
        loop.stop()
      })
    // Other threads only pass the service to the loop; all its methods run on the loop's thread.
    nonisolated(unsafe) let confined = service
    let inbox = SendableLoop(loop)
    let server = try HTTPServer(host: host, port: port) { request, answer in
      inbox.enqueue { confined.handle(request, answer) }
    }
    self.service = service
    log("open http://\(HostAndPort(host, server.port))/ in a browser, or call it with callsim live --call")
    if !CallService.isLoopback(host) {
      log("warning: there is no password; anyone who reaches port \(server.port) of \(host) can call")
    }
    loop.run()
    service.stop()
    while call?.connection.isSilent == false { loop.turn() }
    server.stop()
  }

  private func call(_ place: HTTPPlace) throws {
    let client = HTTPClient()
    let call = try makeCall()
    call.onLocalDescription = { [unowned self] offer in post(offer, to: place, client) }
    call.onEnd = { [unowned self] end in
      if end.code != .remoteHangup { hangUp(at: place, client) }
      finish(end)
    }
    try call.offer()
    runToEnd(of: call)
    awaitLateAnswer()
    client.stop(timeout: isPosting ? .zero : .seconds(2))
  }

  /// The location of the call on the other program's endpoint; nil before the answer.
  private var resource: String?
  /// Whether the offer was posted and has no answer yet.
  private var isPosting = false
  private static let answerPatience = Interval.seconds(2)

  /// Waits for a late answer after the call was given up, to hang up there too: the other side is in the call from its
  /// answer on.
  private func awaitLateAnswer() {
    guard isPosting else { return }
    log("waiting for the answer, to hang up there as well")
    let limit = loop.makeTimer {}
    limit.deadline = loop.now + Self.answerPatience
    while isPosting, limit.deadline != nil { loop.turn() }
    loop.remove(limit)
  }

  private func hangUp(at place: HTTPPlace, _ client: HTTPClient) {
    guard let resource else { return }
    client.send(HTTPRequest("DELETE", resource), to: place.host, port: place.port) { _ in }
  }

  private func post(_ offer: SessionDescriptionText, to place: HTTPPlace, _ client: HTTPClient) {
    let request = HTTPRequest("POST", place.path, contentType: "application/sdp", body: [UInt8](offer.sdp.utf8))
    nonisolated(unsafe) let program = self
    let inbox = SendableLoop(loop)
    isPosting = true
    call?.limitSetup()
    client.send(request, to: place.host, port: place.port) { result in
      inbox.enqueue { program.answered(result, at: place, client) }
    }
  }

  private func answered(_ result: Result<HTTPResponse, HTTPFailure>, at place: HTTPPlace, _ client: HTTPClient) {
    isPosting = false
    switch result {
    case .success(let response) where response.status == 201:
      resource = response.headers.first { $0.name.lowercased() == "location" }?.value
      guard call?.end == nil else { return hangUp(at: place, client) }
      take(String(decoding: response.body, as: UTF8.self))
    case .success(let response):
      let text = String(decoding: response.body, as: UTF8.self).split(separator: "\n").first ?? ""
      call?.finish(
        response.status == 406 ? .codecMismatch : .signallingFailure, detail: "\(response.status) \(text)")
    case .failure(let error): call?.finish(.signallingFailure, detail: "\(error)")
    }
  }
}
