import Testing
import Vocabulary

/// A declaration that contradicts itself is refused with its place and a remedy.
@Suite struct MisfitTests {
  private static let states: [StateMachine.State] = [
    .init("off", "", as: .idle), .init("buzzing", "", as: .alerting), .init("talking", "", as: .connected),
  ]
  private static let transitions: [StateMachine.Transition] = [
    .init("off", "buzzing", on: "push"), .init("buzzing", "talking", on: "answer"), .init("talking", "off", on: "end"),
  ]
  private static let actions: [ActionDeclaration] = [
    ActionDeclaration(
      "push", [ParameterDeclaration("whom", .peer, required: true, "")], "", as: .begin(with: "whom")),
    ActionDeclaration("answer", [], "", as: .accept), ActionDeclaration("release", [], "", as: .end),
  ]

  private static func vocabulary(
    states: [StateMachine.State] = states, transitions: [StateMachine.Transition] = transitions,
    actions: [ActionDeclaration] = actions, codes: [CodeDeclaration] = [], values: [ValueDeclaration] = [],
    settings: [ParameterDeclaration] = [], machines: [StateMachine] = []
  ) -> ProfileVocabulary {
    ProfileVocabulary(
      profile: "radio", summary: "",
      machines: [StateMachine("talk.state", states: states, transitions: transitions)] + machines, actions: actions,
      endCodes: codes, values: values, settings: settings)
  }

  @Test func `what fits is taken`() throws {
    #expect(Self.vocabulary().misfits == [])
    try Self.vocabulary().check()
  }

  @Test func `a value that shows what is no flag is refused`() {
    let values = [
      ValueDeclaration("mic.on", .flag, showing: "mic.sent", ""), ValueDeclaration("mic.sent", .count, ""),
      ValueDeclaration("camera.on", .flag, showing: "mic.on", ""),
    ]
    let misfits = Self.vocabulary(values: values).misfits
    #expect(
      misfits.map(\.description).count == 1 && misfits[0].description.hasPrefix("value mic.on: it shows 'mic.sent'"))
  }

  @Test func `what rings in the system's call UI is accepted without a call that an action begins`() {
    let actions = [
      ActionDeclaration("enter", [ParameterDeclaration("room", .text, "")], "", as: .join(room: "room")),
      ActionDeclaration("exit", [], "", as: .leave), ActionDeclaration("answer", [], "", as: .accept),
      ActionDeclaration("decline", [], "", as: .refuse),
    ]
    let callKit = ParameterDeclaration("callkit", .flag, "", as: .usesCallKit)
    #expect(Self.vocabulary(actions: actions, settings: [callKit]).misfits == [])
    #expect(Self.vocabulary(actions: actions).misfits.count == 2)
  }

  @Test func `the error says where, what and how it is mended`() {
    let unfit = Self.vocabulary(actions: [ActionDeclaration("answer", [], "", as: .accept)])
    let error = #expect(throws: UnfitProfile.self) { try unfit.check() }
    #expect(
      error?.description
        == "profile radio, action answer: it accepts, and no action begins a call; "
        + "add an action with as: .begin(with: PARAMETER)")
  }

  static let unfit: [(ProfileVocabulary, String)] = [
    (
      vocabulary(
        states: [.init("off", "", as: .idle), .init("talking", "", as: .settingUp)],
        transitions: [
          .init("off", "talking", on: "push")
        ], actions: []), "machine talk.state: no state is connected"
    ),
    (vocabulary(states: states + [.init("lost", "")]), "machine talk.state, state lost: it has no role"),
    (vocabulary(states: states + [.init("lost", "", as: .over)]), "machine talk.state, state lost: no transition"),
    (vocabulary(states: states.reversed()), "machine talk.state: it begins in talking, which is not idle"),
    (vocabulary(states: states + states.suffix(1)), "machine talk.state, state talking: it is declared twice"),
    (
      vocabulary(transitions: transitions + [.init("off", "gone", on: "x")]),
      "machine talk.state, state gone: the transition off > gone names it, and it is not declared"
    ),
    (vocabulary(actions: Array(actions.prefix(2))), "action push: it begins a call that no action ends"),
    (vocabulary(actions: actions.suffix(1)), "action release: it ends a call, and no action begins one"),
    (
      vocabulary(actions: actions.dropFirst() + [ActionDeclaration("push", [], "", as: .begin(with: "whom"))]),
      "action push: its role names the parameter 'whom', which it has not"
    ),
    (
      vocabulary(actions: actions + [ActionDeclaration("speak", [], "", as: .unmute)]),
      "action speak: it takes back a mute, and no action mutes"
    ),
    (
      vocabulary(actions: actions + [ActionDeclaration("enter", [], "", as: .join(room: nil))]),
      "action enter: it joins a room that no action leaves"
    ),
    (
      vocabulary(actions: actions + [ActionDeclaration("switch-network", [], "")]),
      "action switch-network: every peer has an action of that name"
    ),
    (
      vocabulary(codes: [CodeDeclaration("done", "", provenance: .documented)]),
      "end code done: it does not say who ended the call"
    ),
    (
      vocabulary(codes: [CodeDeclaration("no", "", provenance: .documented, blames: .me, isRefusal: true)]),
      "end code no: it is a refusal that does not blame the other side"
    ),
    (vocabulary(values: [ValueDeclaration("audible", .flag, "")]), "value audible: every peer has a value"),
    (
      vocabulary(settings: [ParameterDeclaration("again", .count, "", as: .restartsICE)]),
      "setting again: it says whether ICE is restarted, and is no flag"
    ),
    (
      ProfileVocabulary(profile: "radio", summary: "", machines: [], actions: []),
      "declaration: it has no state machine"
    ),
  ]

  @Test(arguments: unfit.indices)
  func `what does not fit is named with its place`(index: Int) {
    let (vocabulary, text) = Self.unfit[index]
    let misfits = vocabulary.misfits.map(\.description)
    #expect(misfits.contains { $0.hasPrefix(text) }, "\(misfits)")
  }

  @Test func `machines beside the main one need no roles`() {
    let socket = StateMachine("wire.state", states: [.init("up", ""), .init("down", "")], transitions: [])
    #expect(Self.vocabulary(machines: [socket]).misfits == [])
  }
}
