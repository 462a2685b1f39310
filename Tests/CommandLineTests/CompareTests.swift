import Foundation
import Testing

@Suite struct CompareTests {
  private static func text(media: String, expect: String) -> String {
    """
    callsim: 1
    id: a
    media: \(media)
    seeds: { count: 3 }
    compare:
      arms: { a: {}, b: { alice.audio.ptime: 60ms } }
      measure: [bob.stats.inbound-rtp.audio.packetsReceived]
    peers:
      alice: { profile: knotos, network: wifi }
      bob: { profile: knotos, network: wifi }
    timeline:
      - { at: 0s, do: alice.call, to: bob }
      - { when: bob.call.state == ringing, do: bob.accept }
      - { id: bye, at: 3s, do: alice.hangup }
    expect:
      - \(expect)

    """
  }

  private static let difference =
    "{ delta: bob.stats.inbound-rtp.audio.packetsReceived, arms: [b, a], stat: max, lt: -10 }"

  @Test func `one arm says nothing of a difference, so that nothing was put to the test`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Self.text(media: "synthetic", expect: Self.difference)])
    let alone = try workspace.run("run", "--cell", "arm=a", "--artifacts", "none")
    #expect(alone.status == 7, "\(alone.output)\(alone.errors)")
    #expect(alone.output.contains("1 expectation over all seeds not judged, nothing was put to the test"))
    let both = try workspace.run("run", "--artifacts", "none")
    #expect(both.status == 0, "\(both.output)\(both.errors)")
  }

  @Test func `arms of which nothing is expected are not put to the test`() throws {
    let text = Self.text(media: "synthetic", expect: Self.difference).replacingOccurrences(
      of: "expect:\n  - \(Self.difference)\n", with: "")
    let workspace = try Workspace(["scenarios/a.yaml": text])
    let outcome = try workspace.run("run", "--artifacts", "none")
    #expect(outcome.status == 7, "\(outcome.output)\(outcome.errors)")
    #expect(try workspace.run("compare", "-q").status == 0)
  }

  @Test func `what is expected over all seeds is judged, whatever precision the differences have`() throws {
    let precise = "{ delta: bob.stats.inbound-rtp.audio.packetsReceived, arms: [b, a], lt: -10, precision: 1000 }"
    let never = "{ ends: alice, code: local-hangup, share: { lte: 10% } }"
    let workspace = try Workspace([
      "scenarios/a.yaml": Self.text(media: "synthetic", expect: "\(precise)\n  - \(never)")
    ])
    let outcome = try workspace.run("compare", "-q", "--seeds", "10")
    #expect(outcome.status == 1, "\(outcome.output)\(outcome.errors)")
    #expect(!outcome.output.contains("not judged") && outcome.output.contains("10 seeds"), "\(outcome.output)")
  }

  @Test func `rounds begin with the seeds that the file lists`() throws {
    let precise = "{ delta: bob.stats.inbound-rtp.audio.packetsReceived, arms: [b, a], lt: -10, precision: 1000 }"
    let text = Self.text(media: "synthetic", expect: precise)
      .replacingOccurrences(of: "seeds: { count: 3 }", with: "seeds: { list: [42, 99], count: 9 }")
    let workspace = try Workspace(["scenarios/a.yaml": text])
    let outcome = try workspace.run("compare", "-q")
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.output.contains("seeds 1-6, 42, 99"), "\(outcome.output)")
  }

  @Test func `a report stays as it is where the comparison is interrupted`() throws {
    let workspace = try Workspace([
      "scenarios/a.yaml": Self.text(media: "real", expect: Self.difference), "c.csv": "old",
    ])
    // The scorer is run by a worker, whose parent is the program.
    let outcome = try workspace.run(
      "compare", "-q", "--seeds", "2000", "--report", "csv=c.csv", "--scorer",
      "interrupt=: {ref} {deg}; kill -INT $(cut -d ' ' -f 4 /proc/$PPID/stat)")
    #expect(outcome.status == 130, "\(outcome)")
    #expect(try workspace.text("c.csv") == "old")
  }

  @Test func `a report that cannot be written does not take the tables with it`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Self.text(media: "synthetic", expect: Self.difference)])
    let outcome = try workspace.run("compare", "-q", "--report", "csv=/dev/full")
    #expect(outcome.status == 4 && outcome.errors.contains("/dev/full: not everything could be written"), "\(outcome)")
    #expect(outcome.output.contains("b against a"), "\(outcome.output)")
  }

  @Test func `a scorer's numbers stand beside the others, and one that fails is named`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Self.text(media: "real", expect: Self.difference)])
    let outcome = try workspace.run(
      "compare", "-q", "--seeds", "1", "--scorer", "size=: {ref}; wc -c < {deg16}", "--scorer",
      "broken=echo {ref} {deg} >/dev/null; echo no licence >&2; false", "--correlate", "size", "--report", "csv=a.csv")
    #expect(outcome.status == 4, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.output.contains("\n  bob.size "), "\(outcome.output)")
    #expect(
      outcome.errors.contains(
        "no score: broken scored nothing of bob in 'a', seed 1: the program ended with exit code 1: no licence"))
    #expect(outcome.errors.contains("error: the scorer 'broken' gave no score of any run"))
    #expect(try workspace.text("a.csv").contains("\r\na,b,1,pass,bob.size,"))
    #expect(try !workspace.text("a.csv").contains("broken"))
  }

  @Test func `a scorer of pictures gets every picture that was taken, beside what was seen`() throws {
    let text = Self.text(media: "real", expect: Self.difference)
      .replacingOccurrences(
        of: "bob: { profile: knotos, network: wifi }",
        with: "bob: { profile: knotos, network: wifi, video: {}, devices: { camera: none } }"
      )
      .replacingOccurrences(
        of: "alice: { profile: knotos, network: wifi }",
        with: "alice: { profile: knotos, network: wifi, video: { size: 160x120 } }")
    let workspace = try Workspace(["scenarios/a.yaml": text])
    let outcome = try workspace.run(
      "compare", "-q", "--seeds", "1", "--report", "csv=a.csv", "--scorer",
      "bytes=head -c 30 {degvideo} | grep -qa '^YUV4MPEG2 W160 H120 F30:1' && wc -c < {refvideo}", "--scorer",
      "less=echo $(( $(wc -c < {refvideo}) - $(wc -c < {degvideo}) ))")
    #expect(outcome.status == 7 || outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    let lines = try workspace.text("a.csv").split(separator: "\r\n")
    // Two seconds of 160x120 in 4:2:0 at the least.
    let bytes = lines.filter { $0.contains("bob.bytes") }.compactMap {
      $0.split(separator: ",").last.flatMap { Double($0) }
    }
    #expect(bytes.count == 2 && bytes.allSatisfy { $0 > 50 * 160 * 120 * 1.5 }, "\(lines)")
    #expect(lines.filter { $0.contains("bob.less") }.allSatisfy { $0.hasSuffix(",0.0") })
    #expect(!outcome.errors.contains("alice"), "nobody films for Alice: \(outcome.errors)")
  }

  @Test func `the time of encoders and decoders is shown where it is asked for, and nowhere else`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Self.text(media: "real", expect: Self.difference)])
    let timed = try workspace.run("compare", "-q", "--seeds", "1", "--cpu", "--report", "json=a.json")
    #expect(timed.status == 7 || timed.status == 0, "\(timed.errors)")
    let json = try JSONSerialization.jsonObject(with: Data(workspace.text("a.json").utf8)) as? [String: Any]
    let numbers = try #require((json?["points"] as? [[String: Any]])?.first?["numbers"] as? [[String: Any]])
    for side in ["encoders", "decoders"] {
      let number = try #require(numbers.first { ($0["name"] as? String)?.hasPrefix(side) == true })
      let arm = try #require((number["arms"] as? [String: [String: Any]])?["a"]?["samples"] as? [String: Double])
      #expect(arm["1"].map { $0 > 0 && $0 < 5 } == true, "\(arm)")
      #expect(number["better"] is NSNull)
    }
    let plain = try workspace.run("compare", "-q", "--seeds", "1")
    #expect(!plain.output.contains("share of a processor"))
    #expect(timed.output.contains("encoders, share of a processor of this machine"))
  }

  @Test(arguments: [
    (["--scorer", "s=x {refvideo} {deg}"], "or else what was taken as {refvideo} and what was seen as {degvideo}"),
    (["--scorer", "s=x {ref} {deg}"], "has modelled media, and no sound or pictures to score"),
    (["--scorer", "s=x"], "the command must name what was said as {ref} or {ref16}"),
    (["--scorer", "s=x {ref} {deg}", "--scorer", "s=y {ref} {deg}"], "--scorer names 's' twice"),
    (
      ["--correlate", "pesq"], "no number is called 'pesq'; there are: bob.stats.inbound-rtp.audio.packetsReceived m"
    ),
    (["--scorer-limit", "0"], "--scorer-limit takes 1 to 86400 seconds, not 0"),
  ])
  func `bad usage of scorers exits with 2 before any run`(options: [String], message: String) throws {
    let workspace = try Workspace(["scenarios/a.yaml": Self.text(media: "synthetic", expect: Self.difference)])
    let outcome = try Program.run(["compare"] + options, in: workspace.path)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
  }

  @Test func `doctor tells which scorers are here, and what to do about the others`() throws {
    let lines = try Program.run(["doctor"]).output.split(separator: "\n")
    for name in ["pesq", "visqol", "vmaf"] {
      let line = try #require(lines.first { $0.hasPrefix("scorer \(name) ") })
      #expect(line.contains(" ok: ") || line.contains(" no: "), "\(line)")
    }
  }
}
