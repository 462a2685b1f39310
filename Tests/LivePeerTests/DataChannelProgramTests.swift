import Formats
import Testing

@testable import LivePeer

/// Data channels of the peer protocol.
@Suite struct DataChannelProgramTests {
  private final class End {
    private(set) var lines: [JSON] = []
    private var program: PeerProgram!
    private var count = 0

    init(_ loop: SocketLoop) {
      var settings = CallSettings()
      settings.interfaces = .loopback
      settings.interfaces.allowsIPv6 = false
      program = PeerProgram(
        loop: loop, agent: "test", settings: settings,
        write: { [unowned self] line in if let json = try? JSON(parsing: line.utf8) { lines.append(json) } })
      _ = ask("open")
    }

    @discardableResult
    func ask(_ method: String, _ params: JSON = [:]) -> JSON {
      count += 1
      let request: JSON = ["id": .integer(Int64(count)), "method": .string(method), "params": params]
      program.receive(request.description.utf8)
      return lines.last { $0["id"] != nil } ?? .null
    }

    func errorName(_ method: String, _ params: JSON) -> String? { ask(method, params)["error"]?["name"]?.string }

    func events(_ name: String) -> [JSON] { lines.filter { $0["event"]?.string == name } }
  }

  private static func negotiate(_ a: End, _ b: End) {
    let offer = a.ask("createOffer")["result"] ?? .null
    a.ask("setLocalDescription", offer)
    b.ask("setRemoteDescription", offer)
    let answer = b.ask("createAnswer")["result"] ?? .null
    b.ask("setLocalDescription", answer)
    a.ask("setRemoteDescription", answer)
  }

  private static func carryCandidates(_ loop: SocketLoop, _ a: End, _ b: End) {
    func isComplete(_ end: End) -> Bool { end.events("icecandidate").contains { $0["candidate"] == .null } }
    #expect(loop.turn { isComplete(a) && isComplete(b) })
    for (from, to) in [(a, b), (b, a)] {
      for candidate in from.events("icecandidate") { to.ask("addIceCandidate", candidate) }
    }
  }

  @Test func `two programs open a channel, exchange messages and close it`() throws {
    let loop = SocketLoop()
    let (a, b) = (End(loop), End(loop))
    let created = a.ask("createDataChannel", ["label": "chat", "ordered": false, "maxRetransmits": 2])
    let ours = try #require(created["result"]?["channel"])
    Self.negotiate(a, b)
    Self.carryCandidates(loop, a, b)
    #expect(loop.turn { !a.events("datachannelstatechange").isEmpty && !b.events("datachannelstatechange").isEmpty })
    let announced = try #require(b.events("datachannel").first)
    #expect(announced["label"] == "chat" && announced["ordered"] == false && announced["maxRetransmits"] == 2)
    let theirs = try #require(announced["channel"])
    #expect(a.ask("sendData", ["channel": ours, "text": "hello"])["result"] == [:])
    #expect(b.ask("sendData", ["channel": theirs, "binary": "AAH/"])["result"] == [:])
    #expect(loop.turn { !a.events("message").isEmpty && !b.events("message").isEmpty })
    #expect(b.events("message")[0]["text"] == "hello" && b.events("message")[0]["channel"] == theirs)
    #expect(a.events("message")[0]["binary"] == "AAH/" && a.events("message")[0]["channel"] == ours)
    a.ask("closeDataChannel", ["channel": ours])
    #expect(loop.turn { b.events("datachannelstatechange").last?["state"] == "closed" })
    #expect(a.errorName("sendData", ["channel": ours, "text": "late"]) == "InvalidStateError")
    for end in [a, b] { end.ask("close") }
  }

  @Test func `a mistake is answered with the DOMException's name`() {
    let end = End(SocketLoop())
    #expect(end.errorName("createDataChannel", [:]) == "TypeError")
    #expect(end.errorName("createDataChannel", ["label": "x", "ordered": 1]) == "TypeError")
    let limits: JSON = ["label": "x", "maxRetransmits": 1, "maxPacketLifeTime": 1]
    #expect(end.errorName("createDataChannel", limits) == "TypeError")
    #expect(end.errorName("createDataChannel", ["label": "x", "negotiated": true]) == "TypeError")
    let channel = end.ask("createDataChannel", ["label": "x"])["result"]?["channel"] ?? .null
    #expect(end.errorName("sendData", ["channel": "nosuch", "text": "x"]) == "InvalidAccessError")
    #expect(end.errorName("sendData", ["channel": channel]) == "TypeError")
    #expect(end.errorName("sendData", ["channel": channel, "binary": "?"]) == "TypeError")
    #expect(end.errorName("sendData", ["channel": channel, "text": "x"]) == "InvalidStateError")
    end.ask("close")
  }
}
