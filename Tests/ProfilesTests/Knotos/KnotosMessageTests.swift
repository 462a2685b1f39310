import Formats
import Testing
import Vocabulary

@testable import Profiles

/// What the app and the server read and write is what the vocabulary declares, and nothing else.
@Suite struct KnotosMessageTests {
  private static let bodies: [KnotosMessage.Body] = [
    .offer(sdp: "v=0", callee: "bob"), .answer(sdp: "v=0"), .candidate(text: "candidate:1", mid: "0", mLineIndex: 0),
    .candidate(text: "candidate:1", mid: nil, mLineIndex: nil), .decline, .busy, .hangup(reason: nil),
    .hangup(reason: "ice-failed"),
  ]

  private static func content(_ message: KnotosMessage) -> MessageContent? {
    guard case .event(let name, let arguments, _) = message.packet, case .object(let members)? = arguments.first else {
      return nil
    }
    return MessageContent(name, members)
  }

  @Test(arguments: bodies) func `what is written fits, and every declared message is written`(body: KnotosMessage.Body)
    throws
  {
    var message = KnotosMessage(body, callID: "a1")
    let declaration = try #require(KnotosApp.vocabulary.message(message.name))
    let asked = try #require(Self.content(message))
    #expect(declaration.problem(with: asked, going: .clientToServer) == nil)
    message.sender = "alice"
    let passed = try #require(Self.content(message))
    #expect(declaration.problem(with: passed, going: .serverToClient) == nil)
    #expect(
      Set(Self.bodies.map { KnotosMessage($0, callID: "").name }) == Set(KnotosApp.vocabulary.messages.map(\.name)))
  }

  @Test(arguments: bodies, [MessageDeclaration.Direction.clientToServer, .serverToClient])
  func `what is required is missed, and what is of another type is refused`(
    body: KnotosMessage.Body, direction: MessageDeclaration.Direction
  ) throws {
    let isFromServer = direction == .serverToClient
    var message = KnotosMessage(body, callID: "a1")
    if isFromServer { message.sender = "alice" }
    let declaration = try #require(KnotosApp.vocabulary.message(message.name))
    let content = try #require(Self.content(message))
    func isRead(_ content: MessageContent) -> Bool {
      KnotosMessage(name: content.type, arguments: [.object(content.fields)], isFromServer: isFromServer) != nil
    }
    #expect(isRead(content))
    for field in declaration.fields ?? [] where field.isRequired && field.direction.includes(direction) {
      var changed = content
      changed[field.name] = nil
      #expect(!isRead(changed), "without \(field.name)")
      changed[field.name] = 7
      #expect(!isRead(changed), "\(field.name): 7")
    }
  }
}
