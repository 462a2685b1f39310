import CallCore
import Profiles
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

/// What is said and what is heard in whole runs.
@Suite struct SpeechHeardTests {
  private func text(_ rest: String = "media: real", codec: String = "opus", timeline: String = "", expect: String)
    -> String
  {
    """
    callsim: 1
    id: test
    \(rest)
    peers:
      alice: { profile: knotos, network: wifi, devices: { mic: speech }, audio: { codecs: [\(codec)] } }
      bob: { profile: knotos, network: wifi, devices: { mic: silence }, audio: { codecs: [\(codec)] } }
    timeline:
      - { at: 0s, do: alice.call, to: bob }
      - { at: 1s, do: bob.accept }
      \(timeline)
      - { at: 7s, do: alice.hangup }
    expect:
      \(expect)
    """
  }

  /// Returns the sum of the products of two signals, one of them later.
  private func correlation(_ said: [Int16], _ heard: [Int16], lag: Int) -> Int {
    (48_000..<72_000).reduce(0) { $0 + Int(said[$1]) * Int(heard[$1 + lag]) }
  }

  /// A quarter of a millisecond is 12 samples: the resampling of G.711 takes 10 more than its delay says.
  @Test(arguments: ["opus", "PCMU", "G722"])
  func `what is heard stands beside what was said at that time`(codec: String) throws {
    let catalogue = ProfileCatalogue.builtIn
    let file = ScenarioFile.load(
      text: text(codec: codec, expect: "- { eventually: bob.audible, within: 5s }"), path: "test.yaml",
      registry: catalogue.registry)
    let scenario = try #require(file.scenario?.cells.first?.scenario)
    let context = MonitorContext(listeningTo: scenario, catalogue.registry, RunOutputs())
    defer { context.close() }
    let stage = try RunStage(context, seed: 1, profiles: catalogue, outputs: RunOutputs())
    var (said, heard): ([Int16], [Int16]) = ([], [])
    stage.world.pairSpeech(over: "bob") { piece in
      guard case .paired(let own, let other) = piece else { return }
      said += own
      heard += other
    }
    try stage.world.start()
    stage.play(until: .zero + .seconds(4)) { false }
    #expect(said.count > 72_100)
    let correlations = (-48...48).map { correlation(said, heard, lag: $0) }
    let best = try #require(correlations.indices.max { correlations[$0] < correlations[$1] }) - 48
    #expect(abs(best) <= 12, "\(best)")
  }

  @Test func `a clean call is understood`() throws {
    let result = try play(text(expect: "- { metric: bob.q.stoi, stat: min, gt: 0.95 }"))
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `while the microphone is muted nothing is said`() throws {
    let result = try play(
      text(timeline: "- { at: 1s, do: alice.mute }", expect: "- { metric: bob.q.stoi, stat: min, gt: 0 }"))
    #expect(result.findings.first?.actual.hasPrefix("no sample of bob.q.stoi") == true, "\(result.findings)")
  }

  @Test(arguments: ["speech", "silence"])
  func `of a mix there is no value, and of one speaker among silent ones there is`(carol: String) throws {
    let result = try play(
      """
      callsim: 1
      id: test
      media: real
      peers:
        alice: { profile: twilio, network: wifi, devices: { mic: speech } }
        bob: { profile: twilio, network: wifi, devices: { mic: silence } }
        carol: { profile: twilio, network: wifi, devices: { mic: \(carol) } }
      timeline:
        - { at: 0s, do: alice.connect, room: daily }
        - { at: 0s, do: bob.connect, room: daily }
        - { at: 0s, do: carol.connect, room: daily }
        - { id: bye, at: 8s, do: alice.disconnect }
      expect:
        - { metric: bob.q.stoi, stat: min, window: [2s, bye], gt: 0.9 }
      """)
    let isMixed = carol == "speech"
    #expect(result.findings.isEmpty != isMixed, "\(result.findings)")
    if isMixed { #expect(result.findings[0].actual.hasPrefix("no sample of bob.q.stoi"), "\(result.findings)") }
  }

  @Test func `modelled media have no sound to compare`() throws {
    let result = try play(text("media: synthetic", expect: "- { metric: bob.q.lsd, stat: min, gt: 0 }"))
    #expect(
      result.findings.first?.actual.hasSuffix("there is one for each 2.5 s of speech") == true, "\(result.findings)")
  }
}
