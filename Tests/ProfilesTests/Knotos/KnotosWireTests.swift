import Testing
import VirtualPeer

@testable import Profiles

@Suite struct KnotosWireTests {
  private func wire(_ body: KnotosMessage.Body, from sender: String? = nil) -> String {
    var message = KnotosMessage(body, callID: "c1")
    message.sender = sender
    return EngineIOPacket(.message, message.packet.text).text
  }

  @Test func `events to the server read as the product writes them`() {
    #expect(
      wire(.offer(sdp: "v=0\r\n", callee: "bob"))
        == #"42["call_offer",{"toUserId":"bob","offer":"v=0\r\n","callType":"audio","callId":"c1"}]"#)
    #expect(wire(.answer(sdp: "v=0")) == #"42["call_answer",{"offer":"v=0","callId":"c1"}]"#)
    #expect(
      wire(.candidate(text: "candidate:1", mid: "0", mLineIndex: 0))
        == #"42["ice_candidate",{"candidate":"candidate:1","sdpMid":"0","sdpMLineIndex":0,"callId":"c1"}]"#)
    #expect(
      wire(.candidate(text: "x", mid: nil, mLineIndex: nil))
        == #"42["ice_candidate",{"candidate":"x","sdpMid":null,"sdpMLineIndex":null,"callId":"c1"}]"#)
    #expect(wire(.hangup(reason: nil)) == #"42["call_hangup",{"callId":"c1"}]"#)
  }

  @Test func `events from the server name their sender`() {
    #expect(wire(.decline, from: "bob") == #"42["call_decline",{"fromUserId":"bob","callId":"c1"}]"#)
    #expect(
      wire(.offer(sdp: "s", callee: "bob"), from: "alice")
        == #"42["call_offer",{"fromUserId":"alice","offer":"s","callType":"audio","callId":"c1"}]"#)
  }

  @Test(arguments: [
    KnotosMessage.Body.offer(sdp: "s", callee: "bob"), .answer(sdp: "s"),
    .candidate(text: "c", mid: "0", mLineIndex: 3), .decline, .busy,
    .hangup(reason: nil), .hangup(reason: "ice-failed"),
  ])
  func `what is written reads the same`(body: KnotosMessage.Body) throws {
    let message = KnotosMessage(body, callID: "c1")
    guard case .event(let name, let arguments, nil) = try SocketIOPacket(parsing: message.packet.text) else {
      Issue.record("not an event")
      return
    }
    #expect(KnotosMessage(name: name, arguments: arguments, isFromServer: false) == message)
    // Without the server's word for the sender nothing is believed.
    #expect(KnotosMessage(name: name, arguments: arguments, isFromServer: true) == nil)
  }

  @Test(arguments: [
    ("", SocketIOPacket.Malformation.empty), ("9", .unknownType), ("2", .badPayload), ("2{}", .badPayload),
    ("2[]", .eventWithoutName), ("2[1]", .eventWithoutName), ("3[]", .acknowledgementWithoutID), ("31", .badPayload),
    ("5[\"x\"]", .unknownType),
  ])
  func `a malformed Socket.IO packet names what is wrong`(text: String, malformation: SocketIOPacket.Malformation) {
    #expect(throws: malformation) { try SocketIOPacket(parsing: text) }
  }

  @Test func `namespaces and acknowledgement numbers are read`() throws {
    #expect(
      try SocketIOPacket(parsing: #"2/admin,17["x",1]"#)
        == .event(name: "x", arguments: [.integer(1)], acknowledgement: 17))
    // An error has no id: the number is its payload, and an id that is no number is none.
    #expect(try SocketIOPacket(parsing: "442") == .connectError(42))
    #expect(throws: SocketIOPacket.Malformation.badPayload) {
      try SocketIOPacket(parsing: #"299999999999999999999["x"]"#)
    }
    #expect(try SocketIOPacket(parsing: "317[]") == .acknowledgement(id: 17, arguments: []))
    #expect(try SocketIOPacket(parsing: #"0{"sid":"s"}"#) == .connect(["sid": "s"]))
    #expect(try SocketIOPacket(parsing: "1") == .disconnect)
  }

  @Test(arguments: [("0{}", EngineIOPacket.Kind.open), ("1", .close), ("2", .ping), ("3probe", .pong), ("6", .noop)])
  func `Engine.IO packets begin with their digit`(text: String, kind: EngineIOPacket.Kind) {
    #expect(EngineIOPacket(parsing: text)?.kind == kind)
    #expect(EngineIOPacket(parsing: text)?.text == text)
  }

  @Test(arguments: ["", "7", "x", "/"]) func `what is no Engine.IO packet is refused`(text: String) {
    #expect(EngineIOPacket(parsing: text) == nil)
  }
}
