import CallSim

extension PushToTalkApp {
  public static let vocabulary = ProfileVocabulary(
    profile: "push-to-talk",
    summary: "A walkie-talkie: everybody in a channel hears the one who holds the button.",
    machines: [channelState, floorState],
    actions: [
      ActionDeclaration(
        "join", [ParameterDeclaration("channel", .text, required: true, "the channel's name")], "Enter a channel.",
        as: .join(room: "channel")),
      ActionDeclaration("leave", [], "Leave the channel.", as: .leave),
      ActionDeclaration("push", [], "Press the button, and talk once the floor is granted.", as: .unmute),
      ActionDeclaration("release", [], "Let go of the button.", as: .mute),
      ActionDeclaration("test", [], "Call the echo service, in no channel.", as: .begin(with: nil)),
      ActionDeclaration("end-test", [], "Hang up on the echo service.", as: .end),
    ],
    messages: messages,
    endCodes: [
      CodeDeclaration("tested", "The user hung up on the echo service.", provenance: .harnessDefault, blames: .me),
      CodeDeclaration("left", "The user left the channel.", provenance: .harnessDefault, blames: .me),
      CodeDeclaration("server-lost", "The server went away.", provenance: .harnessDefault, blames: .server),
      CodeDeclaration("no-answer", "The server never let the user in.", provenance: .harnessDefault, blames: .time),
    ],
    values: [
      ValueDeclaration("floor.holder", .text, "Who may talk: a peer, or nobody."),
      ValueDeclaration("members.count", .count, "The others in the channel."),
    ],
    settings: [
      ParameterDeclaration("floor-timeout", .duration, "how long a request for the floor waits; 2s")
    ],
    servers: [
      ServerDeclaration("dispatch", "keeps channels and the floor, and passes messages between members"),
      ServerDeclaration("echo", "answers calls, and sends back what it hears", opensConnections: true),
    ],
    connections: .peers)

  private static let channelState = StateMachine(
    "channel.state",
    states: [
      .init("off", "In no channel.", as: .idle), .init("joining", "Asking to be let in.", as: .settingUp),
      .init("joined", "In a channel.", as: .connected),
    ],
    transitions: [
      .init("off", "joining", on: "join"), .init("joining", "joined", on: "members"),
      .init("joining", "off", on: "leave or failure"), .init("joined", "off", on: "leave or failure"),
    ])

  private static let floorState = StateMachine(
    "floor.state",
    states: [
      .init("silent", "The button is up."), .init("asking", "The button is down, and nothing is granted yet."),
      .init("talking", "The floor is this user's."),
    ],
    transitions: [
      .init("silent", "asking", on: "push"), .init("asking", "talking", on: "floor granted"),
      .init("asking", "silent", on: "refusal, release or timeout"), .init("talking", "silent", on: "release or leave"),
    ])

  private static let messages = [
    message(
      "join", .clientToServer, "Asks to be let into a channel.", [MessageField("channel", .string, as: .payload)]),
    message("leave", .clientToServer, "Leaves the channel."),
    message(
      "members", .serverToClient, "The user is in; these were there before.",
      [MessageField("users", .list, as: .payload)]
    ),
    message("left", .serverToClient, "Somebody has left the channel.", [sender]),
    message("push", .clientToServer, "Asks for the floor."),
    message("release", .clientToServer, "Gives the floor back."),
    message(
      "floor", .serverToClient, "Who has the floor; nobody without a holder.",
      [MessageField("holder", .string, as: .payload, required: false)]),
    message(
      "offer", .both, "An offer to one member.", [sender, addressee, MessageField("sdp", .sdp, as: .description)]),
    message("answer", .both, "The answer to it.", [sender, addressee, MessageField("sdp", .sdp, as: .description)]),
    message(
      "candidate", .both, "A trickled candidate.",
      [
        sender, addressee, MessageField("candidate", .candidate, as: .candidate),
        MessageField("mid", .string, required: false),
      ]),
  ]

  private static let sender = MessageField("from", .string, as: .sender, going: .serverToClient)
  private static let addressee = MessageField("to", .string, as: .addressee, going: .clientToServer)

  private static func message(
    _ name: String, _ direction: MessageDeclaration.Direction, _ summary: String, _ fields: [MessageField] = []
  ) -> MessageDeclaration {
    MessageDeclaration(name, direction, summary, provenance: .harnessDefault, fields: fields)
  }
}
