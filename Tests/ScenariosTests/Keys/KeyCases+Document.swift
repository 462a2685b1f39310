extension KeyCases {
  static let document: [KeyCase] = [
    KeyCase("scenario.callsim", ["1", "2"], KeyWorld.lan().replacing("callsim: 1", with: "callsim: <>")),
    KeyCase(
      "scenario.use", ["use: [keys/profiles.yaml]", ""],
      KeyWorld.named("network: our/mobile", rest: "<>")),
    KeyCase("scenario.vars", ["20ms", "40ms"], KeyWorld.lan(line: ", delay: \"${d}\"", rest: "vars: { d: <> }")),
    KeyCase(
      "scenario.matrix", ["[20ms]", "[20ms, 40ms]"], KeyWorld.lan(line: ", delay: \"${d}\"", rest: "matrix: { d: <> }")),
    KeyCase("scenario.id", ["t", "u"], KeyWorld.lan().replacing("id: t", with: "id: <>")),
    KeyCase(
      "scenario.define", ["connected", "ringing"],
      KeyWorld.judged("never: up", rest: "define: { up: bob.call.state == <> }")
        .replacing("bob.accept }", with: "bob.mute }")),
    KeyCase("scenario.run", ["2s", "3s"], KeyWorld.lan(rest: "run: <>")),
    KeyCase(words: "scenario.media", KeyWorld.lan(rest: "media: <>")),
    KeyCase("seeds.count", ["1", "3"], KeyWorld.lan(rest: "seeds: { count: <> }")),
    KeyCase("seeds.list", ["[1]", "[1, 7]"], KeyWorld.lan(rest: "seeds: { list: <> }")),
    KeyCase("limits.virtual", ["500ms", "60s"], KeyWorld.lan(limits: "virtual: <>")),
    KeyCase(
      "profile file.networks", ["network: our/mobile", "network: wifi"],
      KeyWorld.named("<>", rest: "use: [keys/profiles.yaml]")),
  ]
}
