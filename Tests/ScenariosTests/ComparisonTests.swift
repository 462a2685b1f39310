import Formats
import Profiles
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

@Suite struct ComparisonTests {
  @Test func `an arm compared with itself differs in nothing`() throws {
    let point = try #require(Compared.points(Compared.text("{ a: {}, b: {} }")).first)
    #expect(point.channelDifference == nil)
    #expect(point.numbers.map(\.name) == ["\(Compared.sent) mean", "\(Compared.heard) mean"])
    for number in point.numbers {
      #expect(point.differences(number, "b", minus: "a") == [0, 0, 0])
      #expect(point.difference(number, "b", minus: "a").interval == 0...0)
    }
    #expect(point.findings == [])
  }

  @Test func `an arm with other packets meets the same channel`() throws {
    for line in [", loss: 10%", ", loss: { kind: gilbert, rate: 10%, mean_burst: 60ms }, jitter: 5ms"] {
      let point = try #require(
        Compared.points(Compared.text("{ a: {}, b: { alice.audio.ptime: 60ms } }", line: line)).first)
      #expect(point.channelDifference == nil)
      #expect(point.channelHash != 0)
      let difference = point.difference(point.numbers[1], "b", minus: "a")
      #expect(difference.mean < -20)
    }
  }

  @Test func `arms that change the network are refused unless they pair by seed`() throws {
    let arms = "{ a: {}, b: { topology.links.a.delay: 50ms } }"
    let refused = Compared.load(Compared.text(arms)).report.rendered(as: .text(color: false))
    #expect(refused.contains("the arm 'b' changes the network, so that nothing is paired"))
    #expect(refused.contains("pair_by: seed"))
    let point = try #require(Compared.points(Compared.text(arms, keys: ", pair_by: seed")).first)
    #expect(point.channelDifference == ArmComparison.ChannelDifference(arm: "b", seed: 1, second: 0))
    #expect(point.findings == [])
  }

  @Test func `a fault that follows the call comes at another time in another arm, which is found`() throws {
    let follows = "  - { after: 1s, of: bob.connected, fault: link.set, link: a, loss: 8% }"
    let same = try Compared.points(Compared.text("{ a: {}, b: { alice.audio.fec: false } }", timeline: follows))
    #expect(same.first?.channelDifference == nil)
    // A longer description takes longer on a slow line.
    let slow = ", rate: 100kbps"
    let text = Compared.text(
      "{ a: {}, b: { alice.audio.codecs: [opus, PCMU, PCMA, G722] } }", line: slow, timeline: follows)
    let point = try #require(Compared.points(text).first)
    #expect(point.channelDifference?.arm == "b")
    let finding = try #require(point.findings.first)
    #expect(finding.kind == .vacuous)
    #expect(finding.actual.contains("give faults times with 'at' and not after events of a call"))
  }

  @Test(arguments: [
    ("packet.drop, from: alice, protocol: rtp, for: 1s", true), ("device.suspend, peer: bob, for: 1s", true),
    ("device.audio-interruption, peer: bob, for: 1s", true), ("nat.remap, network: lan", true),
    ("signal.delay, by: 1s, for: 1s", false), ("device.inactive, peer: bob, for: 1s", false),
  ])
  func `a fault on the way of media that comes at another time is another channel`(fault: String, isFound: Bool) throws
  {
    let follows =
      "  - { when: bob.stats.inbound-rtp.audio.packetsReceived >= 60, fault: \(fault) }"
    let text = Compared.text("{ a: {}, b: { alice.audio.ptime: 60ms } }", timeline: follows)
      .replacing("lan: { cidr: 10.0.0.0/24 }", with: "lan: { cidr: 10.0.0.0/24, nat: {} }")
    let point = try #require(Compared.points(text).first)
    #expect((point.channelDifference != nil) == isFound)
    #expect(
      point.findings.contains { $0.actual.contains("give faults times with 'at' and not after events of a call") }
        == isFound)
    let timed = follows.replacing("when: bob.stats.inbound-rtp.audio.packetsReceived >= 60", with: "at: 3s")
    #expect(try Compared.points(text.replacing(follows, with: timed)).first?.channelDifference == nil)
  }

  @Test func `a fault in the last part of a second is another channel, too`() throws {
    let follows = "  - { after: 1100ms, of: bob.connected, fault: link.set, link: a, loss: 100% }"
    let slow = Compared.text(
      "{ a: {}, b: { alice.audio.codecs: [opus, PCMU, PCMA, G722] } }", line: ", rate: 100kbps", timeline: follows
    ).replacing("- { id: bye, at: 6s, do: alice.hangup }", with: "").replacing(
      "  - { ends: alice, code: local-hangup }", with: "  - { never: alice.call.state == ended }")
    for length in ["2s", "1990ms"] {
      let point = try #require(Compared.points(slow.replacing("id: t\n", with: "id: t\nrun: \(length)\n")).first)
      #expect(point.channelDifference?.second == 1, "\(length)")
    }
  }

  @Test(arguments: ["count: 20", "nth: [3]"])
  func `a fault that counts packets of media is refused, unless arms pair by seed`(key: String) {
    let fault = "  - { at: 3s, fault: packet.drop, from: alice, protocol: rtp, \(key) }"
    let text = Compared.text("{ a: {}, b: {} }", timeline: fault)
    let refused = Compared.load(text).report.rendered(as: .text(color: false))
    #expect(refused.contains("counts packets, of which arms may send more or fewer"), "\(refused)")
    let paired = Compared.text("{ a: {}, b: {} }", keys: ", pair_by: seed", timeline: fault)
    #expect(Compared.load(paired).scenario != nil)
  }

  @Test(arguments: [
    "at: 3s, fault: packet.drop, from: alice, protocol: turn, count: 20",
    "at: 3s, fault: packet.drop, from: alice, protocol: tls, nth: [20]",
    "at: 3s, fault: link.set, link: a, direction: tx, loss: { kind: script, packets: [1-50] }",
  ])
  func `whatever counts packets in which media may be is refused`(fault: String) {
    let text = Compared.text("{ a: {}, b: {} }", line: ", loss: 0%", timeline: "  - { \(fault) }")
    let refused = Compared.load(text).report.rendered(as: .text(color: false))
    #expect(refused.contains("of which arms may send more or fewer"), "\(refused)")
  }

  @Test func `a key that an arm sets twice is refused`() {
    let text = Compared.load(
      Compared.text("{ a: {}, b: { alice.audio.ptime: 60ms, alice.audio: { ptime: 20ms } } }")
    ).report.rendered(as: .text(color: false))
    #expect(text.contains("the arm 'b' sets 'alice.audio.ptime' twice"), "\(text)")
  }

  @Test func `the condition of a difference cannot ask for an arm`() {
    let text = Compared.load(
      Compared.text(
        "{ a: {}, b: {} }", expect: "  - { delta: \(Compared.heard), arms: [b, a], if: arm == a, lt: 9 }")
    ).report.rendered(as: .text(color: false))
    #expect(text.contains("its 'if' cannot ask for one"), "\(text)")
  }

  @Test func `the condition of a difference may name a value like the variable of arms`() {
    let loaded = Compared.load(
      Compared.text(
        "{ a: {}, b: {} }", rest: "matrix: { place: [arm, leg] }",
        expect: "  - { delta: \(Compared.heard), arms: [b, a], if: \"place == 'arm'\", lt: 9 }",
        timeline: "  - { mark: \"${place}\", at: 1s }"))
    #expect(loaded.scenario != nil, "\(loaded.report.rendered(as: .text(color: false)))")
  }

  @Test func `a difference is judged by its whole interval`() throws {
    let arms = "{ a: {}, b: { alice.audio.ptime: 60ms } }"
    let met = "  - { delta: \(Compared.heard), arms: [b, a], stat: max, lt: -100 }"
    #expect(try Compared.points(Compared.text(arms, expect: met)).first?.findings == [])
    let missed = "  - { delta: \(Compared.heard), arms: [b, a], stat: max, lt: -190 }"
    let finding = try #require(Compared.points(Compared.text(arms, expect: missed)).first?.findings.first)
    #expect(finding.kind == .expectation)
    #expect(finding.expected == "max of \(Compared.heard), b minus a, is less than -190")
    #expect(finding.actual.contains("95% confidence (3 pairs, paired t)"))
  }

  @Test func `two pairs are too few for a verdict`() throws {
    let text = Compared.text(
      "{ a: {}, b: { alice.audio.ptime: 60ms } }", expect: "  - { delta: \(Compared.heard), arms: [b, a], lt: -1 }")
    let finding = try #require(Compared.points(text, seeds: 2).first?.findings.first)
    #expect(finding.kind == .vacuous)
    #expect(finding.actual == "2 pairs of runs give no interval; run at least 3 seeds: seeds: { count: 20 }")
  }

  @Test func `a difference of arms that play the same is not put to the test`() throws {
    let text = Compared.text(
      "{ a: {}, b: {} }", expect: "  - { delta: \(Compared.heard), arms: [b, a], gt: -1, lt: 1 }")
    let finding = try #require(Compared.points(text).first?.findings.first)
    #expect(finding.kind == .vacuous)
    #expect(finding.actual == "the runs of 'b' equal those of 'a' event by event")
  }

  @Test func `differences are not judged where an arm is left out`() throws {
    let file = try #require(
      Compared.load(Compared.text("{ a: {}, b: {} }", expect: "  - { delta: \(Compared.heard), arms: [b, a], eq: 0 }"))
        .scenario)
    var selection = SuiteSelection()
    selection.cell = [ScenarioOverride(name: "arm", value: "a")]
    let entries = SuitePlan(files: [file], hash: 0, selection: selection).entries
    #expect(entries.map(\.cell.id) == ["t[arm=a]"])
    var ledger = ArmLedger()
    ledger.add(try SingleRun(cell: entries[0].cell, seed: 1, path: "t.yaml").execute(), of: entries[0])
    let closing = ledger.close(overrides: [])
    #expect(closing.notJudged == 1)
    #expect(closing.run == nil)
  }

  @Test func `a measure of the wire may have blanks between its parentheses`() throws {
    let measures = ["wire.bytes(from: alice, to: bob) rate", "wire.bytes(from:alice) rate", "bob.q.mos"]
    let names = try measures.map { measure in
      let overrides = [MeasureOverride.override(measure: measure), ArmOverride.override(name: "x", changes: "")]
      let file = try #require(Compared.load(Compared.text("{ a: {}, b: {} }"), overrides).scenario)
      return try #require(file.cells.first?.scenario.expectations.first(where: \.isMeasure)?.delta?.metric)
    }
    #expect(
      names.map { "\($0.value) \($0.statistic)" } == [
        "wire.bytes(from: alice, to: bob) rate", "wire.bytes(from: alice) rate", "bob.q.mos mean",
      ])
  }

  @Test func `options add arms, and a single one is compared with the file as it is`() throws {
    let plain = Compared.text("{ a: {}, b: {} }").replacing(
      "compare: { arms: { a: {}, b: {} }, measure: [\(Compared.sent), \(Compared.heard)] }", with: "")
    let one = [ArmOverride.override(name: "slow", changes: "alice.audio.ptime=60ms alice.audio.fec=false")]
    let file = try #require(Compared.load(plain, one).scenario)
    #expect(file.cells.map(\.id) == ["t[arm=as-is]", "t[arm=slow]"])
    #expect(file.cells.map { $0.scenario.peers[0].audio.fec } == [nil, false])
    let two = one + [ArmOverride.override(name: "fast", changes: "alice.audio={ ptime: 10ms }")]
    #expect(try #require(Compared.load(plain, two).scenario).cells.map(\.id) == ["t[arm=slow]", "t[arm=fast]"])
    let measured = two + [MeasureOverride.override(measure: "bob.q.mos p95")]
    let names = try #require(Compared.load(plain, measured).scenario).cells[0].scenario.expectations.filter(\.isMeasure)
      .map(
        \.text)
    #expect(names == ["bob.q.mos p95"])
  }

  @Test func `what an option gets wrong is shown with its text`() {
    let text = Compared.load(
      Compared.text("{ a: {}, b: {} }"), [ArmOverride.override(name: "c", changes: "alice.audio.fce=true")]
    ).report.rendered(as: .text(color: false))
    #expect(text.contains("audio has no key 'fce'"))
    #expect(text.contains("--arm c"))
  }

  @Test(arguments: [("a,b", ""), ("<b>x</b>", "alice.audio.fec=true"), ("<b>x</b>", "")])
  func `the name of an arm of an option is one, whether it changes anything or not`(name: String, changes: String) {
    let text = Compared.load(
      Compared.text("{ a: {}, b: {} }"), [ArmOverride.override(name: name, changes: changes)]
    ).report.rendered(as: .text(color: false))
    #expect(text.contains("'\(name)' is not a name"), "\(text)")
  }

  @Test func `an arm of an option that changes nothing is warned of`() {
    let text = Compared.load(
      Compared.text("{ a: {}, b: {} }"), [ArmOverride.override(name: "c", changes: "alice.video.simulcast=3")]
    ).report.rendered(as: .text(color: false))
    #expect(text.contains("'simulcast' changes nothing: knotos has no server that forwards media"), "\(text)")
  }

  @Test func `arms are cells with the variable arm`() throws {
    let text = Compared.text(
      "{ a: {}, b: { alice.audio.fec: false } }", rest: "matrix: { loss: [1%, 2%] }",
      expect: "  - { never: bob.call.state == ringing, between: [bye, end], if: arm == b }"
    ).replacing(", loss: 5%", with: ", loss: \"${loss}\"")
    let cells = try #require(Compared.load(text).scenario).cells
    #expect(
      cells.map(\.id) == ["t[arm=a,loss=1%]", "t[arm=b,loss=1%]", "t[arm=a,loss=2%]", "t[arm=b,loss=2%]"])
    #expect(cells.map { $0.scenario.expectations.count { !$0.isDelta } } == [1, 2, 1, 2])
    #expect(cells.map(\.pointID) == ["t[loss=1%]", "t[loss=1%]", "t[loss=2%]", "t[loss=2%]"])
  }

  @Test func `the order of two arms flips between two values`() throws {
    var points: [ArmComparison] = []
    let text = Compared.text("{ a: {}, b: {} }", rest: "matrix: { loss: [1%, 3%] }")
      .replacing(", loss: 5%", with: ", loss: \"${loss}\"")
    for (point, gain) in zip(try Compared.points(text), [3.0, -1.0]) {
      var point = point
      point.setSamples([
        "a": [1: 10, 2: 11, 3: 12], "b": [1: 10 + gain, 2: 11 + gain + 0.01, 3: 12 + gain - 0.01],
      ])
      points.append(point)
    }
    let crossing = try #require(CompareReport(points).crossings.first)
    #expect(crossing.from == "1%")
    #expect(crossing.to == "3%")
    #expect(crossing.near == ["2.5%"])
    #expect(crossing.number == "\(Compared.sent) mean")
  }

  @Test func `the order flips in a number that some points do not have`() throws {
    let text = Compared.text(
      "{ a: {}, b: {} }", rest: "matrix: { loss: [1%, 2%, 3%] }",
      expect: "  - { delta: bob.q.mos, arms: [b, a], gt: -3.9, if: loss > 1% }"
    ).replacing(", loss: 5%", with: ", loss: \"${loss}\"")
    var points = try Compared.points(text)
    for (index, gain) in zip([1, 2], [3.0, -1.0]) {
      let number = try #require(points[index].numbers.firstIndex { $0.name.hasPrefix("bob.q.mos") })
      points[index].numbers[number].samples = [
        "a": [1: 10, 2: 11, 3: 12], "b": [1: 10 + gain, 2: 11 + gain + 0.01, 3: 12 + gain - 0.01],
      ]
    }
    let crossing = try #require(CompareReport(points).crossings.first { $0.number.hasPrefix("bob.q.mos") })
    #expect((crossing.from, crossing.to) == ("2%", "3%"))
  }

  @Test func `the place of a flip lies on the line through the points between, whatever is certain of them`() throws {
    var points: [ArmComparison] = []
    let text = Compared.text("{ a: {}, b: {} }", rest: "matrix: { loss: [0%, 5%, 15%] }", measure: "[bob.q.mos]")
      .replacing(", loss: 5%", with: ", loss: \"${loss}\"")
    // Surely below at 0 %, below on average at 5 %, surely above at 15 %.
    let gains = [[-1, -1.01, -0.99], [-0.5, 0.9, -0.7], [9.9, 10, 10.1]]
    for (point, gains) in zip(try Compared.points(text), gains) {
      var point = point
      let plain = [10, 11, 12].enumerated().map { (UInt64($0 + 1), Double($1)) }
      let samples = { (values: [(UInt64, Double)]) in Dictionary(uniqueKeysWithValues: values) }
      point.setSamples(["a": samples(plain), "b": samples(zip(plain, gains).map { ($0.0, $0.1 + $1) })])
      points.append(point)
    }
    let crossing = try #require(CompareReport(points).crossings.first)
    #expect((crossing.from, crossing.to) == ("0%", "15%"))
    #expect(crossing.near == ["5.1%"])
    #expect(CompareText.text(crossing).contains("between loss=0% and 15%, near 5.1%"))
  }

  @Test func `of many differences only those stay that Holm's procedure keeps`() throws {
    let base = try #require(Compared.points(Compared.text("{ a: {}, b: {} }")).first)
    var (clear, weak) = (base, base)
    clear.setSamples(["a": [1: 1, 2: 2, 3: 3], "b": [1: 11, 2: 12.001, 3: 13]])
    weak.setSamples(["a": [1: 1, 2: 2, 3: 3], "b": [1: 2, 2: 3.6, 3: 5.2]])
    let report = CompareReport([clear, weak])
    #expect(report.differences.filter { $0.number == 0 }.map(\.estimate.sign) == [1, 1])
    #expect(report.differences.filter { $0.number == 0 }.map(\.isCorrected) == [true, false])
  }

  @Test func `a mean of fewer runs than others have says so, with the seeds`() throws {
    var point = try #require(Compared.points(Compared.text("{ a: {}, b: {} }")).first)
    point.setSamples(["a": [1: 1, 2: 1.1, 3: 0.9], "b": [1: 0.1, 3: 0.2]])
    let text = CompareText(CompareReport([point]), style: .plain).text
    #expect(text.contains("(n=2)"), "\(text)")
    #expect(text.contains("'b' has no value of \(Compared.sent) mean with seed 2"), "\(text)")
    #expect(point.completeArms == ["a"])
    let page = ComparePage(CompareReport([point]), environment: .current).html
    #expect(page.contains("(n=2)") && page.contains("with seed 2"))
  }

  @Test func `arms that met different channels are not compared`() throws {
    let text = Compared.text(
      "{ a: {}, b: { alice.audio.codecs: [opus, PCMU, PCMA, G722] } }", line: ", rate: 100kbps",
      expect: "  - { delta: \(Compared.heard), arms: [b, a], stat: max, lt: -1000 }",
      timeline: "  - { after: 1s, of: bob.connected, fault: link.set, link: a, loss: 8% }")
    var point = try #require(Compared.points(text).first)
    point.setSamples(["a": [1: 1, 2: 1.1, 3: 0.9], "b": [1: 5, 2: 5.1, 3: 4.9]])
    #expect(!point.isPaired)
    #expect(point.findings.map(\.kind) == [.vacuous])
    let report = CompareReport([point])
    #expect(report.differences.isEmpty)
    #expect(CompareText(report, style: .plain).text.contains("b against a: not compared, because the channels differ"))
    #expect(!CompareText(report, style: .plain).text.contains("not beaten"))
    #expect(report.json(.current)["points"]?.array?.first?["notBeaten"]?.array?.isEmpty == true)
  }

  @Test func `a precision that the seeds do not reach is found`() throws {
    let expect = "  - { delta: \(Compared.heard), arms: [b, a], gt: 0, precision: 1 }"
    var point = try #require(Compared.points(Compared.text("{ a: {}, b: {} }", expect: expect)).first)
    point.setSamples(["a": [1: 10, 2: 10, 3: 10], "b": [1: 20, 2: 21, 3: 23]])
    let finding = try #require(point.findings.first)
    #expect(finding.kind == .expectation)
    #expect(finding.expected.hasPrefix("half the interval of mean of \(Compared.heard), b minus a"))
    #expect(finding.actual.hasSuffix("after 3 pairs; give more seeds: seeds: { count: 44 }"), "\(finding.actual)")
    point.setSamples(["a": [1: 10, 2: 10, 3: 10], "b": [1: 20, 2: 20.1, 3: 20.2]])
    #expect(point.findings.isEmpty && point.isPrecise)
    point.setSamples(["a": [1: 10, 2: 10, 3: 10], "b": [1: 20, 2: 20, 3: 20]])
    #expect(point.findings.isEmpty)
    #expect(!point.isPrecise, "three equal differences are no reason to stop")
  }

  @Test func `a difference of an arm without a value names the arm`() throws {
    let expect = "  - { delta: \(Compared.heard), arms: [b, a], gt: 0 }"
    var point = try #require(Compared.points(Compared.text("{ a: {}, b: {} }", expect: expect)).first)
    point.setSamples(["a": [1: 10, 2: 10, 3: 10]])
    let finding = try #require(point.findings.first)
    #expect(finding.kind == .vacuous)
    #expect(finding.actual == "no run of 'b' has a value of \(Compared.heard)")
  }

  @Test func `a number that no run has was not measured`() throws {
    let text = Compared.text("{ a: {}, b: {} }").replacing(
      "measure: [\(Compared.sent), \(Compared.heard)]",
      with: "measure: [{ metric: bob.stats.inbound-rtp.audio.packetsReceived, stat: rate, window: [bye, end] }]")
    let finding = try #require(Compared.points(text, seeds: 1).first?.findings.first)
    #expect(finding.kind == .vacuous)
    #expect(finding.actual == "no run of any arm has one at t")
  }

  @Test func `equal differences are told without an interval, and not called certain`() throws {
    var point = try #require(Compared.points(Compared.text("{ a: {}, b: {} }")).first)
    point.setSamples(["a": [1: 1, 2: 2, 3: 3], "b": [1: 3, 2: 4, 3: 5]])
    let text = CompareText(CompareReport([point]), style: .plain).text
    #expect(text.contains("+2 bytes in every pair"), "\(text)")
    #expect(!text.contains("+2 bytes in every pair*"))
  }

  @Test func `what each arm changes stands above the tables, and any arm can be the baseline`() throws {
    var point = try #require(
      Compared.points(Compared.text("{ a: {}, b: { alice.audio: { ptime: 60ms } } }"), seeds: 1).first)
    let text = CompareText(CompareReport([point]), style: .plain).text
    #expect(
      text.contains("  a   baseline   no setting changed\n  b              alice.audio: { ptime: 60ms }\n"), "\(text)")
    let isKnown = point.setBaseline("b")
    #expect(isKnown)
    #expect(CompareText(CompareReport([point]), style: .plain).text.contains("a against b"))
    let isUnknown = !point.setBaseline("c")
    #expect(isUnknown)
  }

  @Test func `the machine-readable forms have every sample`() throws {
    let report = CompareReport(try Compared.points(Compared.text("{ a: {}, b: {} }")))
    let lines = report.csv.split(separator: "\r\n")
    #expect(lines.count == 1 + 2 * 2 * 3)
    #expect(lines[1].hasPrefix("t,a,1,pass,\(Compared.sent) mean,"))
    let json = report.json(.current)
    let samples = json["points"]?.array?.first?["numbers"]?.array?.first?["arms"]?["b"]?["samples"]
    #expect(samples?["3"] != nil)
    #expect(json["points"]?.array?.first?["channel"]?.string?.count == 16)
  }

  @Test func `the difference of a number without samples is null`() throws {
    var point = try #require(Compared.points(Compared.text("{ a: {}, b: {} }")).first)
    point.setSamples(["a": [:], "b": [:]])
    let json = CompareReport([point]).json(.current)
    let difference = json["points"]?.array?.first?["numbers"]?.array?.first?["arms"]?["b"]?["difference"]
    #expect(difference?["mean"] == .null)
    #expect(difference?["pairs"] == 0)
  }

  @Test(arguments: ["silence", "tone"])
  func `microphones that differ are told, also where sound is modelled`(microphone: String) throws {
    let text = Compared.text("{ a: {}, b: { alice.devices.mic: \(microphone) } }")
    let point = try #require(Compared.points(text, seeds: 1).first)
    #expect(point.gapTexts.contains { $0.contains("their microphones or cameras differ") })
    let same = try #require(Compared.points(Compared.text("{ a: {}, b: {} }"), seeds: 1).first)
    #expect(!same.gapTexts.contains { $0.contains("microphones") })
  }

  @Test func `a report names its seeds, the processor and what was encoded`() throws {
    let text = Compared.text("{ a: {}, b: { alice.audio.ptime: 60ms } }")
    let modelled = CompareReport(try Compared.points(text))
    #expect(modelled.material == nil)
    var environment = RunEnvironment(revision: "abc", libraries: [], processorFeatures: ["avx2"])
    environment.processor = "Z80"
    #expect(
      CompareText(modelled, environment: environment, style: .plain).text
        .contains("processor Z80, seeds 1-3, material modelled"))
    let heard = text.replacing("media: synthetic", with: "media: real")
    let real = CompareReport(try Compared.points(heard))
    let material = try #require(real.material)
    let hash = RunResult.hexadecimal(material)
    #expect(CompareText(real, environment: environment, style: .plain).text.contains("seeds 1-3, material \(hash)"))
    let json = real.json(environment)
    #expect(json["material"]?.string == hash && json["processor"]?.string == "Z80")
    #expect(json["seeds"]?.array?.count == 3)
    // Other speech has another hash, and how it is encoded does not matter.
    #expect(Set(real.points[0].runs.map(\.material)).count == 3)
    let silent = heard.replacing(
      "alice: { profile: knotos }", with: "alice: { profile: knotos, devices: { mic: silence } }")
    #expect(CompareReport(try Compared.points(silent)).material != material)
  }

  @Test func `a small difference of a number without unit has its digits`() throws {
    var point = try #require(Compared.points(Compared.text("{ a: {}, b: {} }", measure: "[bob.q.mos]")).first)
    point.setSamples(["a": [1: 4, 2: 4, 3: 4], "b": [1: 4.00042, 2: 4.00043, 3: 4.00044]])
    let text = CompareText(CompareReport([point]), style: .plain).text
    #expect(text.contains("bob.q.mos mean +0.00043 [+0.000405, +0.000455]"), "\(text)")
    #expect(text.contains("4 ± 0   4.00043 ± 2.5e-05\n"), "\(text)")
  }

  @Test func `a difference below the last digit is not shown as zero`() throws {
    var point = try #require(
      Compared.points(Compared.text("{ a: {}, b: {} }", measure: "[bob.q.concealment]")).first)
    point.setSamples(["a": [1: 0, 2: 0, 3: 0], "b": [1: 1e-9, 2: 1.1e-9, 3: 1.2e-9]])
    let text = CompareText(CompareReport([point]), style: .plain).text
    #expect(text.contains("bob.q.concealment mean +<100ppm [+<100ppm, +<100ppm]"), "\(text)")
  }

  @Test func `the page shows every arm and loads nothing`() throws {
    let page = ComparePage(CompareReport(try Compared.points(Compared.text("{ a: {}, b: {} }"))), environment: .current)
      .html
    #expect(page.contains("<svg"))
    #expect(page.contains("Content-Security-Policy"))
    #expect(!page.contains("http://") && !page.contains("https://"))
    #expect(page.contains("<th scope=\"col\">b</th>"))
  }
}
