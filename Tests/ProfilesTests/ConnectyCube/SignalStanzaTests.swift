import Formats
import Testing
import VirtualPeer
import Vocabulary

@testable import Profiles

@Suite struct SignalStanzaTests {
  private static var call: CallSignal {
    var signal = CallSignal(.call, sessionID: "5b7f")
    signal.initiator = "1001"
    signal.opponents = ["1002", "1003"]
    signal.isVideo = true
    signal.sdp = "v=0\r\ns=-\r\n"
    signal.userInfo = [JSON.Member("info", "a <b> & c")]
    return signal
  }

  @Test func `a call on the wire is a headline with the fields that the product documents`() {
    let stanza = SignalStanza.stanza(of: Self.call.content(to: "1002"))
    #expect(
      stanza.description
        == "<message xmlns='jabber:client' type='headline' to='1002-1@chat.test'><extraParams>"
        + "<moduleIdentifier>WebRTCVideoChat</moduleIdentifier><signalType>call</signalType>"
        + "<sessionID>5b7f</sessionID><platform>ios</platform><callType>1</callType><callerID>1001</callerID>"
        + "<opponentsIDs><opponentID>1002</opponentID><opponentID>1003</opponentID></opponentsIDs>"
        + "<sdp>v=0&#13;\ns=-&#13;\n</sdp><userInfo><info>a &lt;b&gt; &amp; c</info></userInfo></extraParams></message>"
    )
  }

  @Test func `a signal is read back as it was sent, with its sender`() throws {
    var stanza = SignalStanza.stanza(of: Self.call.content(to: "1002"))
    stanza.attributes.append(.init(name: "from", value: "1001-1@chat.test/ios"))
    let content = try #require(SignalStanza.content(of: try XMLElement(parsing: stanza.description)))
    var expected = Self.call
    expected.sender = "1001"
    #expect(CallSignal(content) == expected)
  }

  @Test func `elements of other namespaces are no fields`() throws {
    let text = SignalStanza.stanza(of: Self.call.content(to: "1002")).description
    let extended = text.replacing("</extraParams>", with: "<sessionID xmlns='urn:x'>other</sessionID></extraParams>")
    #expect(SignalStanza.content(of: try XMLElement(parsing: extended))?["sessionID"] == "5b7f")
  }

  @Test func `candidates are a list on the wire`() throws {
    var signal = CallSignal(.iceCandidates, sessionID: "1")
    signal.candidates = [
      .init(text: "candidate:1 1 udp 1 192.0.2.1 9 typ host", mid: "0", mLineIndex: 0),
      .init(text: "candidate:2", mid: nil, mLineIndex: nil),
    ]
    var content = signal.content(to: "2")
    content["from"] = "1"
    let text = SignalStanza.stanza(of: content).description
    let read = try #require(SignalStanza.content(of: try XMLElement(parsing: text)))
    #expect(CallSignal(read)?.candidates == signal.candidates)
  }

  @Test(arguments: [
    ("call", ["sdp", "callerID", "callType", "opponentsIDs", "sessionID", "from"]), ("accept", ["sdp", "sessionID"]),
    ("iceCandidates", ["iceCandidates"]), ("restart", ["sdp"]), ("hangUp", ["sessionID", "from"]),
  ]) func `a signal without what its kind must have is refused`(_ kind: String, _ fields: [String]) {
    var whole = Self.call
    whole.kind = CallSignal.Kind(rawValue: kind)!
    whole.candidates = [.init(text: "candidate:1", mid: "0", mLineIndex: 0)]
    var content = whole.content(to: "1002")
    content["from"] = "1001"
    #expect(CallSignal(content) != nil)
    for field in fields {
      var damaged = content
      damaged[field] = nil
      #expect(CallSignal(damaged) == nil, "\(field)")
    }
  }

  @Test func `a changed message keeps the other attributes of its stanza`() throws {
    let frame =
      "<message xmlns='jabber:client' type='headline' id='m7' to='2-1@chat.test' from='1-1@chat.test/ios'><extraParams>"
      + "<moduleIdentifier>WebRTCVideoChat</moduleIdentifier><signalType>hangUp</signalType><sessionID>a</sessionID>"
      + "</extraParams></message>"
    guard case .message(var content) = ConnectyCubeServer.frame(of: frame) else { return #expect(Bool(false)) }
    content["sessionID"] = "b"
    let text = ConnectyCubeServer.text(of: content, in: frame)
    let stanza = try XMLElement(parsing: text)
    #expect(stanza["id"] == "m7" && stanza["from"] == "1-1@chat.test/ios" && stanza["to"] == "2-1@chat.test")
    #expect(SignalStanza.content(of: stanza) == content)
  }

  @Test(arguments: [
    "<message xmlns='jabber:client' type='chat'><body>hello</body></message>",
    "<message xmlns='jabber:client'><extraParams><moduleIdentifier>Other</moduleIdentifier></extraParams></message>",
    "<iq xmlns='jabber:client' type='get' id='1'/>",
  ]) func `another stanza is no message of a call`(_ text: String) throws {
    #expect(SignalStanza.content(of: try XMLElement(parsing: text)) == nil)
  }

  @Test func `who sent a signal is what the server stamped, whatever the signal says`() throws {
    let text =
      "<message xmlns='jabber:client' type='headline' to='2-1@chat.test' from='3-1@chat.test/ios'><extraParams>"
      + "<moduleIdentifier>WebRTCVideoChat</moduleIdentifier><signalType>hangUp</signalType><sessionID>a</sessionID>"
      + "<from>1</from><to>9</to></extraParams></message>"
    let content = try #require(SignalStanza.content(of: try XMLElement(parsing: text)))
    #expect(content["from"] == "3" && content["to"] == "2")
  }

  @Test func `only an address of this application has a user`() {
    #expect(XMPP.user(of: "7-1@chat.test/ios") == "7")
    #expect(XMPP.user(of: "a-b-1@chat.test") == "a-b")
    for other in ["7-2@chat.test", "7-1@elsewhere.test", "-1@chat.test", "7", ""] {
      #expect(XMPP.user(of: other) == nil)
    }
  }
}
