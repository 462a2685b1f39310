internal import CallCore
internal import DTLS
internal import Digests
internal import Formats
internal import ICE
internal import LibC
internal import PeerSession
internal import SDP

/// The HTTP endpoint of `callsim live --serve`: a page for browsers, and the offer/answer exchange of WHIP (RFC 9725)
/// that the page and `callsim live --call` use.
///
///     GET    /            the page
///     POST   /offer       an offer (application/sdp): 201, the answer, and the call's location
///     PATCH  /call/ID     more candidates (application/trickle-ice-sdpfrag): 204
///     GET    /call/ID     state and statistics (application/json)
///     DELETE /call/ID     hangs up: 200
///
/// There is one call at a time. Its location cannot be guessed, so only its caller can query or end it. Everything
/// happens on the call's loop.
final class CallService {
  typealias Answer = @Sendable (HTTPResponse) -> Void

  /// A factory of calls whose log and output are set.
  private let makeCall: () throws -> LiveCall
  private let log: (String) -> Void
  /// A handler for the end of a call.
  private let onEnd: (CallEnd) -> Void
  private let loop: SocketLoop
  /// The host name or address of the endpoint.
  private let host: String
  private var call: LiveCall?
  private var number = 0
  /// The location of the current or last call.
  private var place = ""
  private var isStopping = false
  /// The response to an offer, while the answer gathers candidates.
  private var pendingAnswer: Answer?

  init(
    loop: SocketLoop, host: String, log: @escaping (String) -> Void,
    makeCall: @escaping () throws -> LiveCall, onEnd: @escaping (CallEnd) -> Void
  ) {
    self.loop = loop
    self.host = host
    self.log = log
    self.makeCall = makeCall
    self.onEnd = onEnd
  }

  /// Hangs up and accepts no more calls.
  func stop() {
    isStopping = true
    call?.hangUp()
  }

  func handle(_ request: HTTPRequest, _ answer: @escaping Answer) {
    guard isOurs(request.host) else {
      return answer(HTTPResponse(421, text: "this is not '\(request.host)'; use an address, or localhost\n"))
    }
    switch (request.method, request.path) {
    case ("GET", "/favicon.ico"): answer(HTTPResponse(204))
    case ("GET", "/"), ("HEAD", "/"):
      answer(HTTPResponse(200, Self.pageHeaders, body: PackageResources.call_html))
    case ("POST", "/offer"), ("POST", "/"): begin(request, answer)
    case (_, "/"), (_, "/offer"): answer(Self.methodNotAllowed("GET, POST"))
    case (_, let path) where path.hasPrefix("/call/"): resource(request, answer)
    default: answer(HTTPResponse(404, text: "there is nothing at \(request.path)\n"))
    }
  }

  /// The headers of the page. It makes calls, so no other page may embed it, and it may only connect to this server.
  private static let pageHeaders = [
    ("Content-Type", "text/html; charset=utf-8"), ("X-Frame-Options", "DENY"),
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
        + "media-src 'self' blob: mediastream:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
  ]

  /// Returns whether a host name is ours. A foreign page's name could resolve to this machine and give the page access
  /// (DNS rebinding), so only names outside its control are accepted.
  private func isOurs(_ name: String) -> Bool {
    let name = name.lowercased()
    return name.isEmpty || IPAddress(name) != nil || ["localhost", host.lowercased(), Self.machine].contains(name)
  }

  private static let machine: String = {
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, name.count - 1)
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).lowercased()
  }()

  // MARK: Calls

  private func begin(_ request: HTTPRequest, _ answer: @escaping Answer) {
    guard Self.has(request, type: "application/sdp") else {
      return answer(HTTPResponse(415, text: "an offer is application/sdp\n"))
    }
    guard !isStopping else { return answer(HTTPResponse(503, text: "this program is about to end\n")) }
    guard call == nil else { return answer(HTTPResponse(409, text: "busy: there is a call\n")) }
    let offer = String(decoding: request.body, as: UTF8.self)
    do {
      let made = try makeCall()
      number += 1
      place = Self.unguessablePlace()
      call = made
      log("call \(number) comes in")
      made.onLocalDescription = { [unowned self] description in answerIsReady(description) }
      made.onEnd = { [unowned self] end in ended(end) }
      pendingAnswer = answer
      try made.answer(offer)
      guard made.end == nil else { return }
      // Not earlier: a refused offer must not replace the files of the previous call.
      try made.openFiles()
      made.limitSetup()
    } catch let error as SessionError {
      refuse(error)
    } catch {
      pendingAnswer = nil
      call?.finish(.signallingFailure, detail: "\(error)")
      answer(HTTPResponse(500, text: "\(error)\n"))
    }
  }

  private func answerIsReady(_ description: SessionDescriptionText) {
    // No call is created, so there is no 201: the response at the end of the call gives the reason.
    guard !description.rejectsEverything else { return }
    let headers = [("Content-Type", "application/sdp"), ("Location", place)]
    pendingAnswer?(HTTPResponse(201, headers, body: [UInt8](description.sdp.utf8)))
    pendingAnswer = nil
  }

  private func refuse(_ error: SessionError) {
    let answer = pendingAnswer
    pendingAnswer = nil
    call?.fail(error)
    let status = error == .noCommonCodec ? 406 : 400
    answer?(HTTPResponse(status, text: "\(EndCode(error).rawValue): \(error)\n"))
  }

  private func ended(_ end: CallEnd) {
    pendingAnswer?(HTTPResponse(end.code == .codecMismatch ? 406 : 503, text: "\(end)\n"))
    pendingAnswer = nil
    log("call \(number) ended: \(end)")
    call = nil
    onEnd(end)
  }

  // MARK: One call

  private func resource(_ request: HTTPRequest, _ answer: @escaping Answer) {
    guard let call, request.path == place else {
      let isOver = request.path == place
      return answer(HTTPResponse(404, text: isOver ? "that call is over\n" : "there is no such call\n"))
    }
    switch request.method {
    case "GET": answer(HTTPResponse(200, text: status(of: call).description, type: "application/json"))
    case "PATCH": trickle(request, call, answer)
    case "DELETE":
      call.finish(.remoteHangup)
      answer(HTTPResponse(200, text: "hung up\n"))
    default: answer(Self.methodNotAllowed("GET, PATCH, DELETE"))
    }
  }

  /// Returns a path with 128 random bits.
  private static func unguessablePlace() -> String {
    var random = RandomSource.system.stream("place")
    return "/call/" + Hexadecimal.encode(random.bytes(16))
  }

  /// Returns whether only programs of this machine can reach a server on `host`.
  static func isLoopback(_ host: String) -> Bool {
    IPAddress(host)?.isLoopback ?? (host.lowercased() == "localhost")
  }

  /// The limit of candidates in a request, above that of a host with many addresses. Each one delays the audio.
  private static let candidateLimit = 256

  /// Adds the candidates of an SDP fragment (RFC 8840 section 9).
  private func trickle(_ request: HTTPRequest, _ call: LiveCall, _ answer: Answer) {
    guard Self.has(request, type: "application/trickle-ice-sdpfrag") else {
      return answer(HTTPResponse(415, text: "candidates are application/trickle-ice-sdpfrag\n"))
    }
    let lines = String(decoding: request.body, as: UTF8.self).split(whereSeparator: \.isNewline)
    guard lines.count(where: { $0.hasPrefix("a=candidate:") }) <= Self.candidateLimit else {
      return answer(HTTPResponse(413, text: "more than \(Self.candidateLimit) candidates in one request\n"))
    }
    var mid: String?
    for line in lines {
      do throws(SessionError) {
        if line.hasPrefix("a=mid:") {
          mid = String(line.dropFirst(6))
        } else if line.hasPrefix("a=candidate:") {
          try call.connection.addICECandidate(String(line.dropFirst(2)), mid: mid, mLineIndex: mid == nil ? 0 : nil)
        } else if line == "a=end-of-candidates" {
          try call.connection.addICECandidate(nil, mid: mid, mLineIndex: mid == nil ? 0 : nil)
        }
      } catch {
        return answer(HTTPResponse(400, text: "\(error)\n"))
      }
    }
    answer(HTTPResponse(204))
  }

  private func status(of call: LiveCall) -> JSON {
    let connection = call.connection
    var members: [JSON.Member] = [
      JSON.Member("connectionState", .string(connection.connectionState.rawValue)),
      JSON.Member("iceConnectionState", .string(connection.iceConnectionState.rawValue)),
      JSON.Member("dtlsState", .string(connection.dtlsState.rawValue)),
      JSON.Member("signalingState", .string(connection.signalingState.rawValue)),
    ]
    if let pair = call.selectedPair {
      members.append(
        JSON.Member("pair", ["local": .string(pair.local.text), "remote": .string(pair.remote.text)]))
    }
    members.append(JSON.Member("stats", connection.statistics().json(timestamp: loop.unixMilliseconds)))
    return .object(members)
  }

  // MARK: HTTP

  private static func has(_ request: HTTPRequest, type: String) -> Bool {
    request.contentType.lowercased().split(separator: ";").first.map { $0.allSatisfy { $0 != " " } && $0 == type }
      ?? false
  }

  private static func methodNotAllowed(_ allowed: String) -> HTTPResponse {
    HTTPResponse(405, [("Allow", allowed)])
  }
}
