import CallCore
import Foundation
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

/// What data channels promise, and a run that fails where one does not keep it.
@Suite struct DataDeliveryTests {
  private func bench(ordered: Bool = true, retransmits: Int? = nil) -> JudgeBench {
    JudgeBench([]) { scenario in
      var channel = Scenario.DataChannel()
      (channel.label, channel.ordered, channel.maxRetransmits) = ("chat", ordered, retransmits)
      scenario.peers[0].dataChannels = [channel]
    }
  }

  private func findings(_ bench: JudgeBench, _ verdicts: DataChannelEvents.Verdict...) -> [String] {
    for (index, verdict) in verdicts.enumerated() {
      bench.trace.now = .zero + .seconds(1)
      bench.trace.write(
        DataChannelEvents.delivered, bench.trace.subject("bob"), "chat", index + 1, verdict.rawValue)
    }
    return bench.findings
  }

  @Test func `a reliable channel neither skips nor repeats nor makes up a message`() {
    #expect(findings(bench(), .next, .next) == [])
    #expect(
      findings(bench(), .next, .early)
        == ["data-delivery: bob got message 2 on 'chat' before an earlier one, at 1.00 s"])
    #expect(findings(bench(), .late) == ["data-delivery: bob got message 1 on 'chat' after a later one, at 1.00 s"])
    #expect(findings(bench(), .repeated) == ["data-delivery: bob got a message on 'chat' twice, at 1.00 s"])
    #expect(
      findings(bench(), .unknown) == ["data-delivery: bob got a message on 'chat' that nobody sent so, at 1.00 s"])
  }

  @Test func `an unreliable or unordered one may skip, but not repeat`() {
    #expect(findings(bench(ordered: false), .early, .late) == [])
    #expect(findings(bench(retransmits: 0), .early) == [])
    #expect(findings(bench(retransmits: 0), .late).count == 1)
    #expect(findings(bench(ordered: false, retransmits: 0), .repeated).count == 1)
  }

  @Test func `what was sent before the close comes, and the rest in good time`() {
    for (missing, retransmits, count) in [(0, nil, 0), (2, nil, 1), (2, 0, 0)] {
      let bench = bench(retransmits: retransmits)
      bench.trace.write(DataChannelEvents.closedByPeer, bench.trace.subject("bob"), "chat", missing)
      #expect(bench.findings.count == count)
    }
    let late = bench()
    late.judge.invariants.endOfPhaseTwo(overdue: [("alice", "chat", 3)], at: .zero + .seconds(20))
    #expect(late.findings == ["data-delivery: 3 messages of alice on 'chat' never came, at 20.00 s"])
  }

  @Test func `expectations on a channel fail where it does not deliver`() throws {
    let text = try String(
      contentsOfFile: FormatTest.folder + "../../scenarios/data/text-both-ways.yaml", encoding: .utf8)
    let result = try play(text.replacing("id: bye, after: 8s", with: "id: bye, after: 1050ms"))
    #expect(result.findings.count > 3)
  }
}
