import Formats
import Testing
import Vocabulary

/// Fields within objects and within the objects of lists.
@Suite struct MessageMemberTests {
  private static let message = MessageDeclaration(
    "talk", .both, "", provenance: .harnessDefault,
    fields: [
      MessageField(
        "description", .object, required: false,
        members: [
          MessageField("type", .string), MessageField("sdp", .sdp, as: .description),
          MessageField("revision", .integer, as: .revision),
        ]),
      MessageField(
        "ice", .object, going: .serverToClient, required: false,
        members: [
          MessageField(
            "candidates", .list,
            members: [
              MessageField("candidate", .candidate, as: .candidate), MessageField("mid", .string, required: false),
            ]),
          MessageField("revision", .integer, as: .revision),
        ]),
      MessageField("notes", .object, required: false),
    ])
  private static let sdp: JSON = "v=0\nm=audio 9 UDP/TLS/RTP/SAVPF 111\na=fingerprint:sha-256 00:11\n"
  private static let changedSDP: JSON = "v=0\nm=audio 9 UDP/TLS/RTP/SAVPF 111\na=fingerprint:sha-256 00:10\n"

  private static func line(_ address: String) -> JSON { .string("candidate:1 1 udp 1 \(address) 5000 typ host") }

  private static func passed(sdp: JSON = sdp, revision: JSON = 3, addresses: [String] = ["192.0.2.1", "192.0.2.2"])
    -> MessageContent
  {
    MessageContent(
      "talk",
      [
        .init("description", ["type": "offer", "sdp": sdp, "revision": revision]),
        .init(
          "ice", ["candidates": .array(addresses.map { ["candidate": line($0), "mid": "0"] }), "revision": revision]),
      ])
  }

  private static func mutated(_ mutation: MessageMutation) -> MessageContent? {
    message.mutate(passed(), by: mutation, .init(otherCall: nil, otherUser: "mallory"))
  }

  @Test func `a description within an object is mutated, and nothing beside it`() {
    #expect(Self.mutated(.description(.changedFingerprint)) == Self.passed(sdp: Self.changedSDP))
  }

  @Test func `every candidate of a list is mutated`() {
    #expect(Self.mutated(.candidate(.loopback)) == Self.passed(addresses: ["127.0.0.1", "127.0.0.1"]))
  }

  @Test func `every object's revision becomes an older one`() {
    #expect(Self.mutated(.staleRevision) == Self.passed(revision: 2))
  }

  @Test func `a member is taken away, damaged or given another type by its path`() throws {
    let missing = try #require(Self.mutated(.missing(field: "description.sdp")))
    #expect(missing["description"] == ["type": "offer", "revision": 3])
    let damaged = try #require(Self.mutated(.damaged(field: "ice.revision")))
    #expect(damaged["ice"]?["revision"] == .integer(~3) && damaged["description"]?["revision"] == 3)
    let typed = try #require(Self.mutated(.wrongType(field: "ice.candidates.candidate")))
    #expect(typed.values(at: "ice.candidates.candidate") == [1, 1])
    #expect(typed.values(at: "ice.candidates.mid") == ["0", "0"])
  }

  @Test func `a member that the message does not have is not mutated`() {
    let bare = MessageContent("talk", [.init("notes", ["sdp": Self.sdp])])
    for mutation in [MessageMutation.description(.rejected), .missing(field: "description.sdp"), .staleRevision] {
      #expect(Self.message.mutate(bare, by: mutation, .init(otherCall: nil, otherUser: "mallory")) == nil)
    }
  }

  @Test func `mutations reach every member that goes the way of the message`() {
    let served = Self.message.mutations(going: .serverToClient)
    #expect(served.count == Set(served).count)
    for mutation in served where mutation.fieldName != "notes" && mutation.role != .description {
      #expect(Self.mutated(mutation) != nil, "\(mutation)")
    }
    let sent = Self.message.mutations(going: .clientToServer)
    #expect(sent.contains(.missing(field: "description.sdp")) && sent.contains(.description(.rejected)))
    #expect(!sent.contains { $0.fieldName?.hasPrefix("ice") ?? false } && !sent.contains(.candidate(.loopback)))
  }

  @Test func `a declaration admits the mutations of its members alone`() {
    #expect(Self.message.admits(.description(.rejected)) && Self.message.admits(.missing(field: "ice.candidates.mid")))
    #expect(!Self.message.admits(.staleCallID) && !Self.message.admits(.missing(field: "ice.sdp")))
    let text = MessageDeclaration(
      "talk", .both, "", provenance: .harnessDefault, fields: [MessageField("sdp", .string, as: .description)])
    #expect(!text.admits(.description(.rejected)))
  }

  private static let misfits: [(path: String, value: JSON?, problem: String)] = [
    ("description.sdp", nil, "the field 'description.sdp' is missing"),
    ("description.revision", "3", "the field 'description.revision' is no integer"),
    ("ice.candidates.candidate", nil, "the field 'ice.candidates.candidate' is missing"),
    ("ice.candidates", ["x"], "the field 'ice.candidates' holds something that is no object"),
    ("ice", ["candidates": [], "revision": 1, "mood": 1], "the field 'ice.mood' is not declared"),
  ]

  @Test(arguments: misfits.indices) func `a member that does not fit is said by its path`(index: Int) {
    let (path, value, problem) = Self.misfits[index]
    var message = Self.passed()
    message.replace(at: path) { _ in value }
    #expect(Self.message.problem(with: message, going: .serverToClient) == problem)
    #expect(Self.message.problem(with: Self.passed(), going: .serverToClient) == nil)
  }

  @Test func `an object without declared members may hold anything`() {
    let message = MessageContent("talk", [.init("notes", ["any": [1]])])
    #expect(Self.message.problem(with: message, going: .serverToClient) == nil)
  }

  @Test func `members that contradict each other are refused`() {
    let message = MessageDeclaration(
      "talk", .clientToServer, "", provenance: .harnessDefault,
      fields: [
        MessageField(
          "a", .object,
          members: [
            MessageField("b", .string, as: .sender), MessageField("b", .string),
            MessageField("c", .integer, as: .description), MessageField("d.e", .string),
            MessageField("f", .string, going: .serverToClient),
          ]),
        MessageField("g", .string, members: [MessageField("h", .string)]),
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
        "message talk, field a.b: it is declared twice; leave one of the two out",
        "message talk, field a.b: the sender is within an object; declare the sender beside the object",
        "message talk, field a.c: a integer cannot be its description; give it the type .sdp or .string",
        "message talk, field a.d.e: its name has a dot, which joins the names of a path; "
          + "declare it as a member of an object",
        "message talk, field a.f: it goes to clients, where the object does not; leave its direction out",
        "message talk, field g: a string has no members; give it the type .object or .list",
      ])
  }

  @Test func `a made-up object has the members that it needs`() {
    let message = MessageContent("talk", (Self.message.fields ?? []).map { .init($0.name, $0.plainValue) })
    #expect(Self.message.problem(with: message, going: .serverToClient) == nil)
    #expect(message.values(at: "ice.candidates.candidate") == ["x"])
  }
}
