import Testing
import Vocabulary

@testable import ScenarioFormat

/// Names of connections, and of servers, where there are several.
@Suite struct `Several connections and servers` {
  private static func profile(
    _ name: String, servers: [ServerDeclaration] = [.signalling], _ connections: ConnectionNames
  ) -> ProfileVocabulary {
    let known = FormatTest.vocabulary
    return ProfileVocabulary(
      profile: name, summary: "", machines: known.machines, actions: known.actions,
      messages: [MessageDeclaration("\(name)-hello", .both, "", provenance: .harnessDefault)],
      endCodes: known.endCodes, servers: servers, connections: connections)
  }

  private static let echo = ServerDeclaration("echo", "", opensConnections: true)
  private static let registry = ProfileRegistry(checked: [
    profile("mesh", .peers), profile("service", servers: [.signalling, echo], .peers),
    profile("room", .named(["publisher", "subscriber"])), profile("single", .single),
  ])

  /// - Parameters:
  ///   - profiles: of alice, bob, carol and so on.
  private func load(
    _ profiles: [String], timeline: String = "", expect: String = "", topology: String = ""
  ) -> ScenarioFile.Result {
    let names = ["alice", "bob", "carol", "dave"]
    let peers = zip(names, profiles).map { "  \($0): { profile: \($1), network: wifi }" }.joined(separator: "\n")
    let text = """
      callsim: 1
      id: t
      peers:
      \(peers)
      \(topology.isEmpty ? "" : "topology: { \(topology) }")
      timeline:
        - { id: go, at: 0s, do: alice.call, to: bob }
      \(timeline.isEmpty ? "" : "  - " + timeline)
        - { at: 10s, do: alice.hangup }
      expect:
        - { ends: alice, code: local-hangup }
      \(expect.isEmpty ? "" : "  - " + expect)
      """
    return ScenarioFile.load(text: text, path: "t.yaml", registry: Self.registry)
  }

  private func problems(_ result: ScenarioFile.Result) -> [String] {
    result.diagnostics.map { "\($0.code.rawValue) \($0.message); \($0.hint ?? "")" }
  }

  /// The trace subjects of the values that the last expectation reads.
  private func subjects(_ result: ScenarioFile.Result) -> [String]? {
    result.scenario?.cells.first?.scenario.expectations.last?.values.map(\.subject)
  }

  private static let mesh = ["mesh", "mesh", "mesh"]

  @Test func `a puppet sends through a server of the product that the other peer has`() {
    let text = """
      callsim: 1
      id: t
      peers:
        alice: { profile: mesh, network: wifi }
        bob: { profile: mesh, network: wifi }
        carol: { profile: single, network: wifi }
        mal: { stack: puppet }
      timeline:
        - { id: go, at: 0s, do: alice.call, to: bob }
        - { at: 1s, send: mesh-hello, from: mal, to: bob, server: SERVER }
        - { at: 10s, do: alice.hangup }
      expect:
        - { ends: alice, code: local-hangup }
      """
    func problems(_ server: String) -> [String] {
      self.problems(
        ScenarioFile.load(
          text: text.replacing("SERVER", with: server), path: "t.yaml", registry: Self.registry))
    }
    #expect(problems("mesh-signalling").filter { $0.contains("E4") } == [])
    #expect(
      problems("single-signalling").contains(
        "E414 'send' reaches nothing: single-signalling is a server of single, and bob has mesh; "
          + "name a server of its product"))
  }

  @Test func `a connection is named by the peer that it leads to`() {
    let result = load(Self.mesh, expect: "{ eventually: alice.to.bob.ice.state == connected }")
    #expect(problems(result).isEmpty)
    #expect(subjects(result) == ["alice/to/bob"])
    let statistics = load(Self.mesh, expect: "{ eventually: bob.to.carol.stats.inbound-rtp.audio.packetsLost > 3 }")
    #expect(subjects(statistics) == ["bob/to/carol"])
  }

  @Test func `a name that several connections could have is refused with the choices`() {
    let result = load(Self.mesh, expect: "{ eventually: alice.ice.state == connected }")
    #expect(
      problems(result) == [
        "E231 alice may have 2 connections at a time; write alice.to.bob.ice.state, or alice.to.carol.ice.state"
      ])
  }

  @Test func `where there can be one connection alone it needs no name`() {
    let result = load(["mesh", "mesh"], expect: "{ eventually: alice.ice.state == connected }")
    #expect(problems(result).isEmpty)
    #expect(subjects(result) == ["alice/to/bob"])
    #expect(subjects(load(["single", "single"], expect: "{ eventually: alice.ice.state == connected }")) == ["alice"])
  }

  @Test func `what belongs to the device needs no connection, and has none`() {
    #expect(problems(load(Self.mesh, expect: "{ eventually: alice.audible }")).isEmpty)
    #expect(
      problems(load(Self.mesh, expect: "{ eventually: alice.to.bob.audible }")) == [
        "E232 'audible' is of alice, and not of one of its connections; write alice.audible"
      ])
  }

  @Test func `a connection that cannot be is refused`() {
    #expect(
      problems(load(Self.mesh, expect: "{ eventually: alice.to.bobb.ice.state == connected }")) == [
        "E232 alice has no connection to 'bobb'; did you mean 'bob'?"
      ])
    #expect(
      problems(load(["single", "single"], expect: "{ eventually: alice.to.bob.ice.state == connected }")) == [
        "E232 alice has a single connection, without a name; write alice.ice.state"
      ])
  }

  @Test func `declared names take the place of peers`() {
    let result = load(["room", "room"], expect: "{ eventually: alice.to.publisher.ice.state == connected }")
    #expect(subjects(result) == ["alice/to/publisher"])
  }

  @Test func `anchors and sequences name connections`() {
    let result = load(
      Self.mesh, timeline: "{ id: m, after: 1s, of: alice.to.bob.ice.connected, fault: link.down, link: bob/wifi }",
      expect: "{ sequence: carol.to.bob.ice.state, is: [checking, connected] }")
    #expect(problems(result).isEmpty)
    let trigger = result.scenario?.cells[0].scenario.entry("m")?.trigger
    guard case .after(_, let anchor)? = trigger else { return #expect(Bool(false), "\(String(describing: trigger))") }
    #expect(anchor.kind == .entersState(subject: "alice/to/bob", machine: "ice.state", state: "connected"))
  }

  @Test(arguments: [("any", "or"), ("all", "and")])
  func `any and all stand for each connection of a peer`(quantifier: String, word: String) {
    let result = load(Self.mesh, expect: "{ eventually: \(quantifier)(alice.connections).ice.state == connected }")
    #expect(problems(result).isEmpty)
    guard case .eventually(let eventually)? = result.scenario?.cells[0].scenario.expectations.last?.kind else {
      return #expect(Bool(false))
    }
    #expect(
      eventually.predicate.written
        == "alice.to.bob.ice.state == connected \(word) alice.to.carol.ice.state == connected")
  }

  @Test func `any and all leave out a service beside the call, and mean servers where there is nobody else`() {
    let both = load(["service", "service"], expect: "{ eventually: any(alice.connections).ice.state == connected }")
    #expect(subjects(both) == ["alice/to/bob"])
    let alone = load(["service", "single"], expect: "{ eventually: any(alice.connections).ice.state == connected }")
    #expect(subjects(alone) == ["alice/to/service-echo"])
  }

  @Test func `any of a single connection is that one`() {
    let result = load(
      ["single", "single"], expect: "{ never: 'any(alice.connections).ice.state in [failed, closed]' }")
    #expect(subjects(result) == ["alice"])
  }

  @Test func `a quantifier without connections is explained`() {
    #expect(
      problems(load(Self.mesh, expect: "{ eventually: any(alice).ice.state == connected }")).map { $0.prefix(4) }
        == ["E308"])
    #expect(
      problems(load(Self.mesh, expect: "{ eventually: any(alica.connections).ice.state == connected }")) == [
        "E212 unknown peer 'alica'; did you mean 'alice'?"
      ])
  }

  @Test func `a scenario with connections reads back equal`() throws {
    let text =
      "{ leads_to: any(alice.connections).ice.state == failed, when: bob.to.carol.connection.state == connected, within: 1s }"
    let result = load(Self.mesh, expect: "{ eventually: all(alice.connections).ice.state == connected }")
    let scenario = try #require(result.scenario?.cells.first?.scenario)
    let again = ScenarioFile.load(text: scenario.text(), path: "t.yaml", registry: Self.registry)
    #expect(problems(again).isEmpty, "\(text)")
    #expect(again.scenario?.cells.first?.scenario == scenario)
  }

  // MARK: Servers

  private func servers(_ result: ScenarioFile.Result) -> [String] {
    result.scenario?.cells[0].scenario.topology.servers.map { "\($0.name) \($0.kind.word) \($0.profile?.value ?? "")" }
      ?? []
  }

  @Test func `each profile brings its servers, called by the profile where there are several`() {
    #expect(servers(load(["single", "single"])) == ["signalling signalling single", "stun stun "])
    #expect(
      servers(load(["single", "service"])) == [
        "single-signalling signalling single", "service-signalling signalling service", "service-echo echo service",
        "stun stun ",
      ])
  }

  @Test func `a server that opens connections is named like a peer`() {
    let result = load(["service", "service"], expect: "{ eventually: echo.to.alice.ice.state == connected }")
    #expect(problems(result).isEmpty)
    #expect(subjects(result) == ["echo/to/alice"])
    #expect(
      subjects(load(["service", "service"], expect: "{ eventually: alice.to.echo.ice.state == connected }"))
        == ["alice/to/echo"])
  }

  @Test func `a written server belongs to the only profile that declares it, or says to which`() {
    let hub = "servers: { hub: { kind: signalling } }"
    #expect(servers(load(["single", "single"], topology: hub)) == ["hub signalling single", "stun stun "])
    #expect(
      problems(load(["single", "mesh"], topology: hub)) == [
        "E231 'hub' could be a server of single or of mesh; write profile: single, or profile: mesh",
        "W414 alice reaches no 'bob': one is in single, and the other in mesh; name a peer of the profile single",
      ])
    let owned = load(["single", "mesh"], topology: "servers: { hub: { kind: signalling, profile: mesh } }")
    #expect(
      servers(owned) == ["hub signalling mesh", "single-signalling signalling single", "stun stun "])
    #expect(
      problems(load(["single", "single"], topology: "servers: { hub: { kind: signalling, profile: mesh } }")).map {
        $0.prefix(4)
      } == ["E217"])
  }

  @Test func `a kind of server that no profile has is refused`() {
    #expect(
      problems(load(["single", "single"], topology: "servers: { hub: { kind: sfu } }")).map { $0.prefix(4) } == ["E307"]
    )
    #expect(
      problems(load(["single", "single"], topology: "servers: { hub: { kind: echo } }")) == [
        "W414 no peer's profile declares a server 'echo', so nobody would use 'hub'; "
      ])
  }

  private func server(of result: ScenarioFile.Result) -> String? {
    result.scenario?.cells[0].scenario.timeline[1].fault?.callServer
  }

  @Test func `a fault of messages happens at the server that its peers or message leave`() {
    let two = ["single", "single", "mesh", "mesh"]
    #expect(server(of: load(["single", "single"], timeline: "{ at: 1s, fault: signal.drop }")) == "signalling")
    #expect(server(of: load(two, timeline: "{ at: 1s, fault: signal.drop, from: carol }")) == "mesh-signalling")
    #expect(
      server(of: load(two, timeline: "{ at: 1s, fault: signal.drop, message: mesh-hello }")) == "mesh-signalling")
    #expect(
      server(of: load(two, timeline: "{ at: 1s, fault: signal.drop, server: single-signalling }"))
        == "single-signalling")
    #expect(
      problems(load(two, timeline: "{ at: 1s, fault: signal.drop }")) == [
        "E231 signal.drop could happen at any of 2 servers; "
          + "write server: single-signalling, or server: mesh-signalling"
      ])
    #expect(
      problems(load(two, timeline: "{ at: 1s, fault: signal.drop, server: stun }")).map { $0.prefix(4) } == ["E414"])
  }
}
