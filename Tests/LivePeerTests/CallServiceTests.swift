import CallCore
import Formats
import Foundation
import PeerSession
import Synchronization
import Testing

@testable import LivePeer

/// The HTTP endpoint's answers, without HTTP.
@Suite struct CallServiceTests {
  private final class Bench {
    let loop = SocketLoop()
    private(set) var service: CallService!
    private(set) var ends: [CallEnd] = []
    private(set) var callsMade = 0
    private var callers: [LiveCall] = []

    init(_ adjust: (inout CallSettings) -> Void = { _ in }) {
      var settings = Self.settings
      adjust(&settings)
      service = CallService(
        loop: loop, host: "sim.example", log: { _ in },
        makeCall: { [unowned self] in
          callsMade += 1
          return try LiveCall(settings, loop: loop)
        }, onEnd: { [unowned self] in ends.append($0) })
    }

    private static var settings: CallSettings {
      var settings = CallSettings()
      settings.interfaces = .loopback
      return settings
    }

    func offer() throws -> String {
      let caller = try LiveCall(Self.settings, loop: loop)
      callers.append(caller)
      var offer: String?
      caller.onLocalDescription = { offer = $0.sdp }
      try caller.offer()
      #expect(loop.turn { offer != nil })
      return try #require(offer)
    }

    func ask(_ method: String, _ path: String, type: String = "", _ body: String = "", host: String = "") throws
      -> HTTPResponse
    {
      final class Box: Sendable { let response = Mutex<HTTPResponse?>(nil) }
      let box = Box()
      var request = HTTPRequest(method, path, contentType: type, body: Array(body.utf8))
      request.host = host
      service.handle(request) { response in box.response.withLock { $0 = response } }
      #expect(loop.turn { box.response.withLock { $0 != nil } })
      return try #require(box.response.withLock { $0 })
    }

    func post(_ offer: String) throws -> HTTPResponse { try ask("POST", "/offer", type: "application/sdp", offer) }

    /// The place of a new call.
    func place() throws -> String {
      try #require(CallServiceTests.header("Location", of: try post(try offer())))
    }
  }

  private static let trickle = "application/trickle-ice-sdpfrag"

  /// What stands in a response's header.
  fileprivate static func header(_ name: String, of response: HTTPResponse) -> String? {
    response.headers.first { $0.name == name }?.value
  }

  @Test func `an offer is answered with 201, the answer, and where the call is`() throws {
    let bench = Bench()
    let response = try bench.post(try bench.offer())
    #expect(response.status == 201)
    #expect(Self.header("Content-Type", of: response) == "application/sdp")
    let place = try #require(Self.header("Location", of: response))
    #expect(place.hasPrefix("/call/") && place.count == "/call/".count + 32)
    let answer = String(decoding: response.body, as: UTF8.self)
    #expect(answer.hasPrefix("v=0") && answer.contains("a=candidate:") && answer.contains("a=end-of-candidates"))
  }

  @Test func `a call tells its state, takes candidates, and is hung up`() throws {
    let bench = Bench()
    let place = try bench.place()
    let status = try bench.ask("GET", place)
    #expect(status.status == 200)
    #expect(Self.header("Content-Type", of: status) == "application/json")
    let state = try JSON(parsing: status.body)
    #expect(state["signalingState"]?.string == "stable" && state["stats"] != nil)
    let candidate = "a=mid:0\r\na=candidate:1 1 udp 1 127.0.0.1 9 typ host\r\na=end-of-candidates\r\n"
    #expect(try bench.ask("PATCH", place, type: Self.trickle, candidate).status == 204)
    #expect(try bench.ask("DELETE", place).status == 200)
    #expect(bench.ends == [CallEnd(.remoteHangup, wasUp: false)])
  }

  @Test(
    arguments: [
      ("PATCH", nil, "text/plain", 415, nil), ("PATCH", nil, trickle, 400, nil),
      ("PUT", nil, "", 405, "GET, PATCH, DELETE"), ("POST", "/offer", "application/sdp", 409, nil),
      ("GET", "/call/1", "", 404, nil), ("DELETE", "/call/x", "", 404, nil),
    ] as [(String, String?, String, Int, String?)])
  func `what cannot be asked of a call is refused and the call goes on`(
    method: String, path: String?, type: String, status: Int, allowed: String?
  ) throws {
    let bench = Bench()
    let place = try bench.place()
    let response = try bench.ask(method, path ?? place, type: type, "a=mid:0\r\na=candidate:nonsense\r\n")
    #expect(response.status == status && Self.header("Allow", of: response) == allowed)
    #expect(try bench.ask("GET", place).status == 200)
    #expect(bench.callsMade == 1 && bench.ends.isEmpty)
  }

  @Test func `a call that is over is nowhere, and the next has a place of its own`() throws {
    let bench = Bench()
    let first = try bench.place()
    _ = try bench.ask("DELETE", first)
    let gone = try bench.ask("GET", first)
    #expect(gone.status == 404 && String(decoding: gone.body, as: UTF8.self) == "that call is over\n")
    #expect(try bench.place() != first)
    #expect(try bench.ask("DELETE", first).status == 404)
  }

  @Test func `one request brings 256 candidates at most`() throws {
    let bench = Bench()
    let place = try bench.place()
    func trickle(_ count: Int) throws -> Int {
      let lines = (0..<count).map { "a=candidate:\($0) 1 udp 1 127.0.0.1 \(9_000 + $0) typ host\r\n" }
      return try bench.ask("PATCH", place, type: Self.trickle, "a=mid:0\r\n" + lines.joined()).status
    }
    #expect(try trickle(257) == 413)
    #expect(try trickle(256) == 204)
  }

  @Test func `the page may not be shown within another`() throws {
    let page = try Bench().ask("GET", "/")
    #expect(Self.header("X-Frame-Options", of: page) == "DENY")
    #expect(Self.header("Content-Security-Policy", of: page)?.contains("frame-ancestors 'none'") == true)
  }

  @Test(arguments: [
    ("GET", "/", "", "", 200), ("HEAD", "/", "", "", 200), ("GET", "/favicon.ico", "", "", 204),
    ("GET", "/", "", "127.0.0.1", 200), ("GET", "/", "", "LOCALHOST", 200), ("GET", "/", "", "sim.example", 200),
    ("GET", "/", "", "other.example", 421), ("POST", "/offer", "application/sdp", "other.example", 421),
    ("GET", "/nowhere", "", "", 404), ("GET", "/call/1", "", "", 404), ("PUT", "/offer", "", "", 405),
    ("DELETE", "/", "", "", 405), ("POST", "/offer", "text/plain", "", 415),
    ("POST", "/offer", "application/sdpx", "", 415), ("POST", "/offer", "Application/SDP; charset=utf-8", "", 400),
  ])
  func `what is no call is answered with its status`(
    method: String, path: String, type: String, host: String, status: Int
  ) throws {
    let bench = Bench()
    #expect(try bench.ask(method, path, type: type, "hello", host: host).status == status)
    #expect(bench.ends.allSatisfy { $0.isRefusal })
  }

  private static func withoutCommonCodec(_ offer: String) -> String {
    offer.replacing("opus/48000/2", with: "G729/8000").replacing("a=fmtp:", with: "a=x-fmtp:")
  }

  @Test func `an offer without a codec in common is answered with 406 and leaves room for another`() throws {
    let bench = Bench()
    let refusal = try bench.post(Self.withoutCommonCodec(try bench.offer()))
    #expect(refusal.status == 406 && String(decoding: refusal.body, as: UTF8.self).hasPrefix("codec-mismatch"))
    #expect(try bench.post(try bench.offer()).status == 201)
  }

  private static let noSection = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n"
  private static let noAudio = "the offer has no audio section that could be accepted"

  @Test(arguments: [
    ("a=rtcp-mux\r\n", "", "section 0 wants a=rtcp-mux: RTP and RTCP share a port"),
    ("m=audio ", "m=video ", noAudio), ("m=audio [0-9]+ ", "m=audio 0 ", noAudio),
  ])
  func `an offer whose audio has to be rejected whatever its codecs are is told why`(
    line: String, other: String, why: String
  ) throws {
    let bench = Bench()
    let refusal = try bench.post(try bench.offer().replacing(Regex(line), with: other))
    #expect(refusal.status == 406 && String(decoding: refusal.body, as: UTF8.self) == "codec-mismatch: \(why)\n")
    #expect(bench.ends == [CallEnd(.codecMismatch, wasUp: false, detail: why)])
  }

  @Test func `an offer without a section is told that it has none of audio`() throws {
    let refusal = try Bench().post(Self.noSection)
    #expect(refusal.status == 406 && String(decoding: refusal.body, as: UTF8.self).contains(Self.noAudio))
  }

  @Test(arguments: [true, false])
  func `the files of a call are begun when it is accepted, not when its offer is refused`(isRead: Bool) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "callsim-service-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = ["a.wav", "keys.txt"].map { folder.appending(path: $0) }
    for file in files { try "before".write(to: file, atomically: true, encoding: .utf8) }
    let bench = Bench { settings in
      settings.record = files[0].path
      settings.keyLog = files[1].path
    }
    let refused = isRead ? Self.withoutCommonCodec(try bench.offer()) : "hello"
    #expect(try bench.post(refused).status == (isRead ? 406 : 400))
    for file in files { #expect(try String(contentsOf: file, encoding: .utf8) == "before") }
    _ = try bench.post(try bench.offer())
    for file in files { #expect(try String(contentsOf: file, encoding: .isoLatin1) != "before") }
  }

  @Test func `a call whose files cannot be begun is refused and leaves room for another`() throws {
    let bench = Bench { $0.record = "/nowhere/a.wav" }
    for _ in 0..<2 {
      let refusal = try bench.post(try bench.offer())
      #expect(refusal.status == 500 && String(decoding: refusal.body, as: UTF8.self).hasPrefix("/nowhere/a.wav: "))
    }
    #expect(bench.ends.map(\.code) == [.signallingFailure, .signallingFailure])
  }

  @Test func `a caller that goes no further is given up`() throws {
    let bench = Bench { $0.setupTimeout = .milliseconds(50) }
    _ = try bench.post(try bench.offer())
    #expect(bench.loop.turn { !bench.ends.isEmpty })
    #expect(bench.ends == [CallEnd(.setupTimeout, wasUp: false)])
  }

  @Test func `a service that was stopped takes no call`() throws {
    let bench = Bench()
    bench.service.stop()
    #expect(try bench.post("v=0").status == 503)
    #expect(bench.callsMade == 0)
  }
}
