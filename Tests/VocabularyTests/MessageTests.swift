import Formats
import Testing
import Vocabulary

/// Messages against their declaration, and what a fuzzer makes of the declaration alone.
@Suite struct MessageTests {
  private static let message = MessageDeclaration(
    "talk", .both, "", provenance: .harnessDefault,
    fields: [
      MessageField("talk_id", .integer, as: .callID),
      MessageField("speaker", .string, as: .sender, going: .serverToClient),
      MessageField("listener", .string, as: .addressee, going: .clientToServer),
      MessageField("description", .sdp, as: .description, required: false),
      MessageField("turn", .integer, as: .revision),
      MessageField("extras", .object, required: false),
    ])
  /// What each mutation of a description changes.
  private static let description: JSON = """
    v=0
    m=audio 9 UDP/TLS/RTP/SAVPF 111
    a=setup:actpass
    a=fingerprint:sha-256 00:11
    a=ice-ufrag:abcd
    a=ice-pwd:0123456789012345678901

    """
  private static let passed = MessageContent(
    "talk", [.init("talk_id", 7), .init("speaker", "ann"), .init("description", description), .init("turn", 3)])
  private static let context = MessageMutation.Context(
    otherCall: 6, otherUser: "mallory", candidates: ["candidate:1 1 udp 1 192.0.2.1 9 typ host"])

  static let misfits: [(MessageContent, String?)] = [
    (passed, nil), (changed("description", nil), nil), (changed("extras", .object([])), nil),
    (changed("description", .null), nil), (changed("talk_id", nil), "the field 'talk_id' is missing"),
    (changed("talk_id", "7"), "the field 'talk_id' is no integer"),
    (changed("mood", true), "the field 'mood' is not declared"),
    (changed("listener", "bob"), "the field 'listener' goes to the server only"),
    (changed("extras", .array([])), "the field 'extras' is no object"),
  ]

  private static func changed(_ name: String, _ value: JSON?) -> MessageContent {
    var message = passed
    message[name] = value
    return message
  }

  @Test(arguments: misfits.indices) func `what does not fit is said by the field`(index: Int) {
    let (message, problem) = Self.misfits[index]
    #expect(Self.message.problem(with: message, going: .serverToClient) == problem)
  }

  @Test func `a message that goes the wrong way does not fit`() {
    let hello = MessageDeclaration("hello", .clientToServer, "", provenance: .harnessDefault)
    #expect(
      hello.problem(with: MessageContent("hello"), going: .serverToClient)
        == "it goes to clients, and is declared to go to the server")
    #expect(hello.problem(with: MessageContent("hello", [.init("any", 1)]), going: .clientToServer) == nil)
  }

  // MARK: Mutations

  private static func mutated(_ mutation: MessageMutation) -> MessageContent? {
    message.mutate(passed, by: mutation, context)
  }

  @Test func `a stale call, a wrong sender and an unknown type come from the declaration alone`() {
    let mutations = Self.message.mutations(going: .serverToClient)
    for mutation in [MessageMutation.staleCallID, .wrongSender, .unknownType] { #expect(mutations.contains(mutation)) }
    #expect(Self.mutated(.staleCallID) == Self.changed("talk_id", 6))
    #expect(Self.mutated(.wrongSender) == Self.changed("speaker", "mallory"))
    #expect(Self.mutated(.unknownType)?.type == "talk-unknown")
    #expect(Self.mutated(.staleRevision) == Self.changed("turn", 2))
  }

  @Test func `every mutation that the declaration names changes the message`() {
    let mutations = Self.message.mutations(going: .serverToClient)
    #expect(mutations.count == Set(mutations).count)
    #expect(!mutations.contains(.wrongAddressee))
    for mutation in mutations where !"\(mutation)".contains("extras") {
      #expect(Self.mutated(mutation) != nil, "\(mutation)")
    }
  }

  @Test func `what takes a required field away or its type does not fit any more`() {
    for mutation in Self.message.mutations(going: .serverToClient) {
      guard let changed = Self.mutated(mutation) else { continue }
      let problem = Self.message.problem(with: changed, going: .serverToClient)
      switch mutation {
      case .missing, .extraField: #expect(problem != nil, "\(mutation)")
      case .wrongType(let field):
        let value = changed[field]
        #expect(problem != nil || value == .null, "\(mutation)")
      case .staleCallID, .wrongSender, .wrongAddressee, .staleRevision, .unknownType, .damaged, .description,
        .candidate:
        #expect(problem == nil, "\(mutation)")
      }
    }
  }

  @Test func `a text stands for a value of the field's type`() {
    #expect(MessageField.FieldType.integer.value("7") == 7)
    #expect(MessageField.FieldType.integer.value("x") == nil)
    #expect(MessageField.FieldType.boolean.value("true") == true)
    #expect(MessageField.FieldType.list.value("[1]") == .array([1]))
    #expect(MessageField.FieldType.object.value("[1]") == nil)
    #expect(MessageField.FieldType.sdp.value("v=0") == "v=0")
  }

  // MARK: Declarations that do not fit

  @Test func `a declaration whose fields contradict each other is refused`() {
    let message = MessageDeclaration(
      "talk", .clientToServer, "", provenance: .harnessDefault,
      fields: [
        MessageField("a", .boolean, as: .callID), MessageField("b", .string, as: .callID), MessageField("b", .string),
        MessageField("c", .string, going: .serverToClient),
      ])
    let vocabulary = ProfileVocabulary(
      profile: "radio", summary: "",
      machines: [
        StateMachine(
          "talk.state", states: [.init("off", "", as: .idle), .init("on", "", as: .connected)],
          transitions: [.init("off", "on", on: "push")])
      ], actions: [], messages: [message])
    #expect(
      vocabulary.misfits.map(\.description) == [
        "message talk, field b: it is declared twice; leave one of the two out",
        "message talk: a and b have one role, call-id; leave it to one of them",
        "message talk, field a: a boolean cannot be its call-id; give it the type .string or .integer",
        "message talk, field c: it goes to clients, where the message does not; leave its direction out",
      ])
  }
}
