import CallCore
import Formats
import PeerSession
import Testing

@testable import LivePeer

/// The peer protocol, line by line.
@Suite struct PeerProgramTests {
  private final class Session {
    let loop = SocketLoop()
    var lines: [JSON] = []
    private var program: PeerProgram!

    init(_ settings: CallSettings = CallSettings()) {
      program = PeerProgram(
        loop: loop, agent: "callsim test", settings: settings,
        write: { [unowned self] line in if let json = try? JSON(parsing: line.utf8) { lines.append(json) } })
    }

    func ask(_ line: String) -> JSON { ask(line.utf8) }

    func ask(_ line: some Sequence<UInt8>) -> JSON {
      program.receive(line)
      return lines.last { $0["id"] != nil } ?? .null
    }

    func errorName(_ line: String) -> String? { ask(line)["error"]?["name"]?.string }
  }

  @Test func `open comes first, and once`() {
    let session = Session()
    #expect(session.errorName(#"{"id":1,"method":"createOffer"}"#) == "InvalidStateError")
    #expect(session.ask(#"{"id":2,"method":"open"}"#)["result"]?["agent"]?.string == "callsim test")
    #expect(session.errorName(#"{"id":3,"method":"open"}"#) == "InvalidStateError")
  }

  @Test(arguments: [
    ("not json", "SyntaxError"), ("{}", "TypeError"), (#"{"id":1,"method":"fly"}"#, "NotSupportedError"),
    (#"{"id":1,"method":"addTrack"}"#, "TypeError"),
    (#"{"id":1,"method":"addTrack","params":{"kind":"video"}}"#, "NotSupportedError"),
    (#"{"id":1,"method":"removeTrack","params":{"track":"none"}}"#, "InvalidAccessError"),
    (#"{"id":1,"method":"setEnabled","params":{"track":"none","enabled":true}}"#, "InvalidAccessError"),
    (#"{"id":1,"method":"setDirection","params":{"track":"none","direction":"inactive"}}"#, "InvalidAccessError"),
    (#"{"id":1,"method":"setDirection","params":{"track":"none","direction":"stopped"}}"#, "TypeError"),
    (#"{"id":1,"method":"setRemoteDescription","params":{"type":"offer","sdp":"v=1"}}"#, "OperationError"),
    (#"{"id":1,"method":"setRemoteDescription","params":{"type":"guess","sdp":""}}"#, "TypeError"),
    (#"{"id":1,"method":"createAnswer"}"#, "InvalidStateError"),
    (#"{"id":1,"method":"addIceCandidate","params":{"candidate":"nonsense","sdpMid":"0"}}"#, "OperationError"),
  ])
  func `a mistake is answered with the DOMException's name`(line: String, name: String) {
    let session = Session()
    _ = session.ask(#"{"id":0,"method":"open"}"#)
    #expect(session.errorName(line) == name)
  }

  @Test(arguments: [[0xFF], [0xC3, 0x28], [0xED, 0xA0, 0x80]] as [[UInt8]])
  func `a line that is not UTF-8 is a SyntaxError, and not a method's name`(bytes: [UInt8]) {
    let line = Array(#"{"id":1,"method":""#.utf8) + bytes + #""}"#.utf8
    #expect(Session().ask(line)["error"]?["name"]?.string == "SyntaxError")
  }

  @Test(arguments: [
    (#""method":"createAnswer""#, "not allowed in this state: stable"),
    (
      #""method":"setRemoteDescription","params":{"type":"offer","sdp":"v=1"}"#,
      "SDP line 1: 'v' is malformed; it looks like v=0"
    ),
    (
      #""method":"setRemoteDescription","params":{"type":"offer","sdp":"v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=rtpmap:111 opus/48000/2\r\n"}"#,
      "SDP line 5: section 0 wants a=ice-ufrag and a=ice-pwd"
    ),
    (
      #""method":"addIceCandidate","params":{"candidate":"nonsense","sdpMid":"0"}"#, "not a candidate: 'nonsense'"
    ),
    (
      #""method":"addIceCandidate","params":{"candidate":"","sdpMid":"0"}"#,
      "not allowed in this state: there is no remote description that the candidate could belong to"
    ),
    (#""method":"removeTrack","params":{"track":"none"}"#, "there is no track none"),
  ])
  func `a mistake is answered with a sentence`(request: String, message: String) {
    let session = Session()
    _ = session.ask(#"{"id":0,"method":"open"}"#)
    #expect(session.ask("{\"id\":1,\(request)}")["error"]?["message"]?.string == message)
  }

  @Test(arguments: [
    (#"{"configuration":{"iceServers":[{"urls":"stun:"}]}}"#, "SyntaxError"),
    (#"{"configuration":{"iceServers":[{"urls":[]}]}}"#, "SyntaxError"),
    (#"{"configuration":{"iceTransportPolicy":"none"}}"#, "TypeError"),
    (#"{"audio":{"play":{"wav":"a.wav"},"record":"a.wav"}}"#, "TypeError"),
    (#"{"audio":{"play":{"wav":"/nowhere.wav"}}}"#, "OperationError"),
    (#"{"audio":{"record":"/nowhere/a.wav"}}"#, "OperationError"),
  ])
  func `open refuses what it cannot use`(params: String, name: String) {
    #expect(Session().errorName(#"{"id":1,"method":"open","params":"# + params + "}") == name)
  }

  @Test(arguments: [
    (#"[1]"#, "open wants 'params', an object"),
    (#"{"configuration":"x"}"#, "open wants 'configuration', an object"),
    (#"{"configuration":{"iceServers":"no"}}"#, "configuration wants 'iceServers', an array of objects"),
    (
      #"{"configuration":{"iceServers":{"urls":"stun:192.0.2.1"}}}"#,
      "configuration wants 'iceServers', an array of objects"
    ),
    (
      #"{"configuration":{"iceServers":["stun:192.0.2.1"]}}"#, "configuration wants 'iceServers', an array of objects"
    ),
    (
      #"{"configuration":{"iceServers":[{"urls":"stun:192.0.2.1"},{"urls":5}]}}"#,
      "iceServers[1] wants 'urls', a string or an array of strings"
    ),
    (#"{"configuration":{"iceServers":[{}]}}"#, "iceServers[0] wants 'urls', a string or an array of strings"),
    (
      #"{"configuration":{"iceServers":[{"urls":["stun:192.0.2.1",5]}]}}"#,
      "iceServers[0] wants 'urls', a string or an array of strings"
    ),
    (
      #"{"configuration":{"iceServers":[{"urls":"turn:192.0.2.1","username":"u","credential":5}]}}"#,
      "iceServers[0] wants 'credential', a string"
    ),
    (#"{"configuration":{"iceTransportPolicy":5}}"#, "configuration wants 'iceTransportPolicy', a string"),
    (#"{"audio":"x"}"#, "open wants 'audio', an object"), (#"{"audio":{"play":5}}"#, "audio wants 'play', an object"),
    (#"{"audio":{"play":{}}}"#, "play wants 'tone', in Hz, or 'wav', the path of a file"),
    (#"{"audio":{"play":{"wav":5}}}"#, "play wants 'wav', a string"),
    (#"{"audio":{"record":5}}"#, "audio wants 'record', a string"),
  ])
  func `a member of open that has the wrong type is a TypeError that says what is wanted`(
    params: String, message: String
  ) {
    let error = Session().ask(#"{"id":1,"method":"open","params":"# + params + "}")["error"]
    #expect(error == ["name": "TypeError", "message": .string(message)])
  }

  @Test(arguments: [#""username":"u""#, #""credential":"c""#, #""credential":null,"username":"u""#])
  func `a TURN server without credentials is an InvalidAccessError`(credentials: String) {
    let server = #"{"urls":["stun:192.0.2.1","turn:192.0.2.1"],"# + credentials + "}"
    let opening = #"{"id":1,"method":"open","params":{"configuration":{"iceServers":["# + server + "]}}}"
    #expect(Session().errorName(opening) == "InvalidAccessError")
  }

  @Test(arguments: [
    "null", #"{"configuration":null,"audio":null,"video":null}"#, #"{"audio":{"play":null,"record":null}}"#,
    #"{"configuration":{"iceServers":null,"iceTransportPolicy":null}}"#,
    #"{"configuration":{"bundlePolicy":5,"iceServers":[{"urls":"stun:192.0.2.1","credentialType":5}]},"captions":5}"#,
  ])
  func `open takes null for a member that is not there, and ignores members that it does not know`(params: String) {
    #expect(Session().ask(#"{"id":1,"method":"open","params":"# + params + "}")["error"] == nil)
  }

  @Test func `an offer has the track that was added, and statistics have ids`() throws {
    let session = Session()
    _ = session.ask(#"{"id":1,"method":"open"}"#)
    #expect(session.ask(#"{"id":2,"method":"addTrack","params":{"kind":"audio"}}"#)["result"]?["track"]?.string != nil)
    let offer = session.ask(#"{"id":3,"method":"createOffer"}"#)["result"]
    #expect(offer?["type"]?.string == "offer")
    #expect(offer?["sdp"]?.string?.contains("m=audio") == true)
    let stats = session.ask(#"{"id":4,"method":"getStats"}"#)["result"]?["stats"]
    #expect(stats?["T"]?["type"]?.string == "transport")
    #expect(session.ask(#"{"id":5,"method":"close"}"#)["result"] != nil)
    #expect(session.errorName(#"{"id":6,"method":"createOffer"}"#) == "InvalidStateError")
  }

  @Test(arguments: ["sendonly", "inactive", "recvonly", "sendrecv"])
  func `an offer says the direction that was set`(direction: String) {
    let session = Session()
    _ = session.ask(#"{"id":1,"method":"open"}"#)
    _ = session.ask(#"{"id":2,"method":"addTrack","params":{"kind":"audio"}}"#)
    let set = #"{"id":3,"method":"setDirection","params":{"track":"audio1","direction":""# + direction + #""}}"#
    #expect(session.ask(set)["result"] == [:])
    let offer = session.ask(#"{"id":4,"method":"createOffer"}"#)["result"]
    #expect(offer?["sdp"]?.string?.contains("a=\(direction)\r\n") == true)
  }

  @Test func `ports of the command line hold for a connection that is driven over standard input`() throws {
    var settings = CallSettings()
    settings.ports = 47_210...47_219
    settings.interfaces = .loopback
    settings.interfaces.allowsIPv6 = false
    let session = Session(settings)
    _ = session.ask(#"{"id":1,"method":"open"}"#)
    _ = session.ask(#"{"id":2,"method":"addTrack","params":{"kind":"audio"}}"#)
    let offer = session.ask(#"{"id":3,"method":"createOffer"}"#)["result"]?["sdp"]?.string ?? ""
    let local = JSON.object([.init("type", "offer"), .init("sdp", .string(offer))])
    _ = session.ask(#"{"id":4,"method":"setLocalDescription","params":"# + local.description + "}")
    while !session.lines.contains(where: { $0["event"]?.string == "icecandidate" }) { session.loop.turn() }
    let candidate = session.lines.lazy.compactMap { $0["candidate"]?.string }.first ?? ""
    let port = try #require(candidate.split(separator: " ").dropFirst(5).first.flatMap { UInt16($0) })
    #expect(settings.ports.contains(port))
  }

  @Test(arguments: ["1e308", "24000", "0", "-440", "9223372036854775807", "\"440\""])
  func `a tone that nobody could hear is refused`(tone: String) {
    let opening = #"{"id":1,"method":"open","params":{"audio":{"play":{"tone":"# + tone + "}}}}"
    #expect(Session().errorName(opening) == "TypeError")
  }

  @Test(arguments: [
    ("1e308", "TypeError"), ("-1", "TypeError"), ("9223372036854775807", "TypeError"), ("0.5", "TypeError"),
    ("true", "TypeError"), (#""0""#, "TypeError"), ("65535", "OperationError"), ("0", nil),
  ])
  func `a section that there cannot be is refused`(index: String, error: String?) {
    let (session, other) = (Session(), Session())
    for side in [session, other] { _ = side.ask(#"{"id":1,"method":"open"}"#) }
    _ = other.ask(#"{"id":2,"method":"addTrack","params":{"kind":"audio"}}"#)
    let offer = other.ask(#"{"id":3,"method":"createOffer"}"#)["result"] ?? .null
    #expect(
      session.ask(#"{"id":2,"method":"setRemoteDescription","params":"# + offer.description + "}")["error"] == nil)
    let candidate =
      #"{"id":3,"method":"addIceCandidate","params":{"candidate":"candidate:1 1 udp 1 192.0.2.9 9 typ host","sdpMLineIndex":"#
    #expect(session.errorName(candidate + index + "}}") == error)
  }
}
