import CallCore
import PeerSession
import Profiles
import ScenarioFormat
import ScenarioJudge
import ScenarioRun

/// The call of the first scenario anybody reads, as users run it: app, signalling, NATs, lossy Wi-Fi, trace and judge.
struct ScenarioCall {
  private let run: SingleRun
  private let talk: Int

  /// - Parameter hasVideo: whether both film in VGA, 30 pictures a second, for VP8 or its model.
  init(talking seconds: Int, media: Scenario.Media, hasVideo: Bool = false) {
    let video = hasVideo ? ", video: { codecs: [VP8], size: 640x480 }" : ""
    let text = """
      callsim: 1
      id: bench
      media: \(media.rawValue)
      limits: { virtual: 1h }
      peers:
        alice: { profile: knotos, network: wifi\(video) }
        bob: { profile: knotos, network: wifi\(video) }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, do: bob.accept }
        - { id: bye, after: \(seconds)s, of: bob.connected, do: alice.hangup }
      expect:
        - { sequence: alice.call.state, is: [calling, connecting, connected, ended] }
        - { ends: bob, code: remote-hangup, within: 2s, of: bye }
      """
    let result = ScenarioFile.load(text: text, registry: ProfileCatalogue.builtIn.registry)
    guard let file = result.scenario else { preconditionFailure(result.report.rendered(as: .text(color: false))) }
    run = SingleRun(cell: file.cells[0], seed: 1, path: file.path, profiles: .builtIn)
    talk = seconds
  }

  private func play(_ outputs: RunOutputs = RunOutputs()) throws {
    let result = try run.execute(outputs: outputs)
    precondition(result.verdict == .pass, "the benchmark's call fails: \(result.findings)")
  }

  /// - Returns: seconds of the call simulated per second.
  func speed() -> Double {
    do {
      return Double(talk) / (try cost { try play() })
    } catch {
      preconditionFailure("\(error)")
    }
  }

  /// The cost of the whole run in units of what its encoders and decoders took of it.
  func codecOverhead() -> Double {
    do {
      CodecTime.start { UInt64(processorSeconds() * 1e9) }
      let total = try cost { try play() }
      let codecs = CodecTime.stop()
      precondition(codecs.decoding > 0, "nothing was decoded")
      return total / (codecs.encoding + codecs.decoding)
    } catch {
      preconditionFailure("\(error)")
    }
  }

  /// The cost of the whole run in units of what its codecs and its crypto cost alone, on the speech that was heard.
  func overhead() -> Double {
    do {
      var heard: [String: [Int16]] = [:]
      var outputs = RunOutputs()
      outputs.heard = { peer, samples in
        for index in samples.indices { heard[peer, default: []].append(samples[index]) }
      }
      try play(outputs)
      var needed = 0.0
      for name in heard.keys.sorted() {
        guard let samples = heard[name] else { continue }
        precondition(samples.count > talk * 47_000, "\(name) heard \(samples.count) samples in \(talk) s")
        let replay = try CodecReplay()
        needed += try cost { try replay.run(samples.span) }
      }
      return try cost { try play() } / needed
    } catch {
      preconditionFailure("\(error)")
    }
  }
}
