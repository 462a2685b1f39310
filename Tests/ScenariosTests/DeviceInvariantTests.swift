import CallCore
import PeerSession
import SimNet
import Testing
import Vocabulary

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

/// What the invariants of the device find, in traces of devices that do wrong.
@Suite struct DeviceInvariantTests {
  private func bench(_ change: (inout Scenario) -> Void = { _ in }) -> JudgeBench { JudgeBench([], change) }

  private static func audioRestored(_ scenario: inout Scenario) {
    scenario.invariants = [.init(invariant: .audioRestored, isOn: true, why: nil, span: .builtIn)]
  }

  @Test func `an open camera in the background is found`() {
    let bench = bench()
    bench.asOneEvent {
      bench.set("bob", "camera.open", true, at: 100)
      bench.set("bob", "indicator", "green", at: 100)
    }
    bench.set("bob", "app.state", "inactive", at: 200)
    #expect(bench.findings.isEmpty)
    bench.set("bob", "app.state", "background", at: 300)
    #expect(bench.findings == ["app-away: bob's camera was open at 0.30 s, while its app was background"])
  }

  @Test func `a view that is made in the background is found`() {
    let bench = bench()
    bench.makeView("bob", for: "alice", at: 50)
    bench.set("bob", "app.state", "background", at: 100)
    #expect(bench.findings.isEmpty)
    bench.makeView("bob", for: "alice", at: 200)
    #expect(bench.findings == ["app-away: bob made a view for alice at 0.20 s, while its app was background"])
  }

  @Test func `media of a suspended app are found`() {
    let bench = bench()
    bench.act("bob", "call", to: "alice", at: 50)
    bench.begin("bob", "a1", with: "alice", at: 50)
    bench.set("bob", "app.state", "suspended", at: 100)
    bench.onWire("bob", .tx, at: 150)
    #expect(bench.findings.isEmpty)
    bench.onWire("bob", .tx, at: 900)
    bench.onWire("bob", .tx, at: 950)
    #expect(bench.findings == ["app-away: bob sent media at 0.90 s, while its app was suspended"])
  }

  @Test func `a message of a terminated app is found`() {
    let bench = bench()
    bench.set("bob", "app.state", "terminated", at: 100)
    bench.trace.write(ServerEvents.messageSent, bench.trace.subject("bob"), "hangUp", "alice", false)
    #expect(bench.findings == ["app-away: bob sent hangUp at 0.10 s, while its app was terminated"])
  }

  @Test func `a recording without a dot is found`() {
    let bench = bench()
    bench.act("bob", "call", to: "alice", at: 50)
    bench.begin("bob", "a1", with: "alice", at: 50)
    bench.set("bob", "indicator", "none", at: 60)
    bench.set("bob", "mic.open", true, at: 100)
    bench.judge.advance(to: .zero + .seconds(1))
    #expect(bench.findings == ["indicator: bob's indicator was none at 0.10 s, and should be orange"])
  }

  // MARK: Audio session

  @Test func `an audio unit that starts before its session is configured is found, on a simulator too`() {
    for state in ["failed", "running"] {
      let bench = bench()
      bench.set("bob", "audio.unit", "stopped", at: 0)
      bench.set("bob", "audio.unit", state, at: 100)
      bench.activateAudioSession("bob", "playAndRecord", at: 100)
      #expect(
        bench.findings == [
          "audio-configured: bob's audio unit started at 0.10 s on a session that was inactive and soloAmbient (I3, I11)"
        ])
    }
  }

  @Test func `an audio unit that starts on a configured session is fine`() {
    let bench = bench()
    bench.activateAudioSession("bob", "playAndRecord", at: 50)
    bench.set("bob", "audio.unit", "running", at: 100)
    #expect(bench.findings.isEmpty)
  }

  /// An app whose audio is taken in a call, and which is covered and comes to the foreground after that.
  private func interrupted(_ bench: JudgeBench) {
    bench.activateAudioSession("bob", "playAndRecord", at: 50)
    bench.move("bob", to: "connected", at: 100)
    bench.set("bob", "audio.interrupted", true, at: 1_000)
    bench.activateAudioSession("bob", "playAndRecord", isActive: false, at: 1_000)
    bench.set("bob", "audio.interrupted", false, at: 2_000)
    bench.set("bob", "app.state", "inactive", at: 3_000)
    bench.judge.advance(to: .zero + .milliseconds(3_900))
    bench.set("bob", "app.state", "active", at: 4_000)
  }

  @Test func `an app that does not take its audio again in the foreground is found`() {
    let bench = bench()
    interrupted(bench)
    #expect(bench.findings.isEmpty)
    bench.judge.advance(to: .zero + .seconds(6))
    #expect(
      bench.findings == [
        "audio-recovered: bob's audio session was inactive 1s after its app came to the foreground at 4.00 s; "
          + "something had taken the audio at 1.00 s (I9)"
      ])
  }

  @Test func `an app that takes its audio again in the foreground is fine`() {
    let bench = bench()
    interrupted(bench)
    bench.activateAudioSession("bob", "playAndRecord", at: 4_500)
    bench.judge.advance(to: .zero + .seconds(6))
    #expect(bench.findings.isEmpty)
  }

  @Test func `audio that is taken again in the foreground is not the app's to recover`() {
    let bench = bench()
    interrupted(bench)
    bench.set("bob", "audio.interrupted", true, at: 4_500)
    bench.judge.advance(to: .zero + .seconds(6))
    #expect(bench.findings.isEmpty)
  }

  // MARK: CallKit

  /// An app that does all as it should, up to the answer.
  private func answered(_ bench: JudgeBench) {
    bench.set("bob", "audio.manual", true, at: 100)
    bench.activateAudioSession("bob", "playAndRecord", isActive: false, at: 100)
    bench.say("bob", .report, at: 100)
    bench.say("bob", .answer, at: 500)
    bench.activateAudioSession("bob", "playAndRecord", at: 600)
    bench.say("bob", .activate, at: 600)
    bench.set("bob", "audio.enabled", true, at: 600)
  }

  private func ended(_ bench: JudgeBench) {
    bench.asOneEvent {
      bench.set("bob", "audio.enabled", false, at: 2_000)
      bench.set("bob", "audio.manual", false, at: 2_000)
      bench.say("bob", .end, at: 2_000)
      bench.set("bob", "callkit.state", "none", at: 2_000)
    }
    bench.say("bob", .deactivate, at: 2_100)
    bench.activateAudioSession("bob", "playAndRecord", isActive: false, at: 2_100)
    bench.activateAudioSession("bob", "soloAmbient", isActive: false, at: 2_100)
  }

  @Test func `a call in the right order is fine`() {
    let bench = bench()
    answered(bench)
    ended(bench)
    #expect(bench.findings.isEmpty)
  }

  @Test func `audio that is enabled before the activation is found`() {
    let bench = bench()
    bench.set("bob", "audio.manual", true, at: 100)
    bench.activateAudioSession("bob", "playAndRecord", isActive: false, at: 100)
    bench.say("bob", .report, at: 100)
    bench.set("bob", "audio.enabled", true, at: 500)
    #expect(
      bench.findings == [
        "callkit-order: bob enabled its audio unit at 0.50 s, which the system had not activated (I4)"
      ])
  }

  @Test func `a session that is taken down before the deactivation is found`() {
    let bench = bench()
    answered(bench)
    bench.activateAudioSession("bob", "playAndRecord", isActive: false, at: 1_000)
    #expect(
      bench.findings == [
        "callkit-order: bob deactivated its audio session at 1.00 s, which the system had not deactivated yet (I5)"
      ])
  }

  @Test func `a report without manual audio, or before the audio is set up, is found`() {
    let without = bench()
    without.say("bob", .report, at: 100)
    #expect(without.findings == ["callkit-order: bob reported a call at 0.10 s, without manual audio (I6)"])
    let early = bench()
    early.set("bob", "audio.manual", true, at: 100)
    early.say("bob", .report, at: 100)
    #expect(
      early.findings == ["callkit-order: bob reported a call at 0.10 s, before its audio session was set up (I6)"])
    let wrong = bench()
    wrong.activateAudioSession("bob", "playAndRecord", isActive: false, at: 50)
    wrong.set("bob", "audio.manual", true, at: 100)
    wrong.say("bob", .report, at: 100)
    #expect(
      wrong.findings == [
        "callkit-order: bob reported a call at 0.10 s, with an audio session set up before manual audio was on (I6)"
      ])
  }

  @Test func `audio that the end action leaves as it was is found`() {
    let bench = bench()
    answered(bench)
    bench.asOneEvent {
      bench.say("bob", .end, at: 2_000)
      bench.set("bob", "callkit.state", "none", at: 2_000)
    }
    #expect(
      bench.findings == [
        "callkit-order: bob ended its call at 2.00 s, and left the audio unit enabled (I4, I14)",
        "callkit-order: bob ended its call at 2.00 s, and left manual audio on (I14)",
      ])
  }

  @Test func `a push without a report, and one with two, is found`() {
    let none = bench()
    none.say("bob", .push, at: 100)
    none.say("bob", .pushCompleted, at: 100)
    #expect(none.findings == ["reported-pushes: bob completed a push without a report of a call at 0.10 s"])
    let two = bench()
    two.set("bob", "audio.manual", true, at: 100)
    two.activateAudioSession("bob", "playAndRecord", isActive: false, at: 100)
    for word in [CallKitWord.push, .report, .report, .pushCompleted] { two.say("bob", word, at: 100) }
    #expect(two.findings == ["reported-pushes: bob reported more calls than it had pushes at 0.10 s"])
  }

  @Test func `a push that is never completed is found when its app is gone`() {
    let bench = bench()
    bench.say("bob", .push, at: 100)
    bench.set("bob", "app.state", "terminated", at: 5_100)
    #expect(
      bench.findings == ["reported-pushes: bob was terminated with a push that it had not completed at 5.10 s"])
  }

  @Test func `an audio session that is left as the call had it is found`() {
    let bench = bench(Self.audioRestored)
    bench.begin("bob", "a1", with: "alice", at: 100)
    bench.activateAudioSession("bob", "playAndRecord", at: 200)
    bench.activateAudioSession("bob", "playAndRecord", isActive: false, at: 1_000)
    bench.end("bob", "remote-hangup", at: 1_000)
    bench.judge.advance(to: .zero + .seconds(2))
    #expect(
      bench.findings == [
        "audio-restored: bob's audio session is playAndRecord and voiceChat 500ms after its call ended at 1.00 s, and was "
          + "soloAmbient and default (I12)"
      ])
  }
}

extension JudgeBench {
  fileprivate func makeView(_ peer: String, for user: String, at milliseconds: Int64) {
    at(milliseconds)
    trace.write(PeerEvents.madeView, trace.subject(peer), user)
  }

  fileprivate func set(_ peer: String, _ name: String, _ value: String, at milliseconds: Int64) {
    at(milliseconds)
    trace.write(PeerEvents.value(name, String.self), trace.subject(peer), value)
  }

  fileprivate func say(_ peer: String, _ word: CallKitWord, at milliseconds: Int64) {
    at(milliseconds)
    trace.write(PeerEvents.callKit, trace.subject(peer), word.rawValue, "a1", "")
  }
}
