import CallCore
import Foundation
import Profiles
import SimNet
import Testing
import Vocabulary

@testable import ScenarioFormat
@testable import ScenarioRun

/// Whatever is declared is written: each kind of the trace's schema, and each value that a scenario may name.
@Suite struct TraceCoverageTests {
  /// Runs of the suite that write each kind at least once, by file and cell.
  private static let shipped: [(file: String, cell: String)] = [
    ("calls/cancel-crosses-accept", "[late=130ms]"), ("turn/tls-swallowed", "[network=office/udp-blocked]"),
    ("signalling/hangup-before-offer", ""), ("carrier/block-of-ports", "[left=1]"), ("turn/expired-credentials", ""),
    ("signalling/answer-lost", ""), ("mobility/quiet-minutes-with-backup", ""),
    ("dtls/one-flight-lost", "[flight=6]"), ("firewall/udp-blocked", "[over=true,turn=udp]"),
    ("regressions/18-rebinding-under-keepalive", ""), ("turn/tls-certificate-expires", ""),
    ("mobility/new-interface-trickled", ""), ("mobility/another-network", ""),
    ("carrier/renumbering", "[lifetime=25s]"), ("security/hostile-description", "[sdp=]"),
    ("security/candidate-flood", ""), ("data/closing", "[by=alice,to=bob]"), ("connectycube/push-lost", ""),
    ("connectycube/two-sessions", "[first=bob]"), ("twilio/track-switched-off", "[mode=grid]"),
    ("vonage/views-in-background", "[early=false]"),
    ("connectycube/dtls-off-on-both-sides", ""),
  ]

  /// Kinds that no run of a test writes, each with the reason.
  private static let unwritten: [String: String] = [
    ProgramEvents.state.name: "of a real program", ProgramEvents.exitCode.name: "of a real program",
    ProgramEvents.output.name: "of a real program", ProgramEvents.agent.name: "of a real program",
    ProgramEvents.failed.name: "of a real program", ProgramEvents.frameDropped.name: "of a real program's interface",
    ProgramEvents.interfaces.name: "of a real program's interface",
  ]

  /// All statistics and qualities of a peer, the values of its NAT and what crosses the wire.
  private static let values = """
    callsim: 1
    id: values
    topology: { turn: true }
    peers:
      alice:
        profile: knotos
        network: home
        audio: { codecs: [opus, telephone-event] }
        video: { size: 160x120, frame_rate: 10, fec: flexfec }
      bob:
        profile: knotos
        network: home
        audio: { codecs: [opus, telephone-event] }
        video: { size: 160x120, frame_rate: 10, fec: flexfec }
    media: real
    timeline:
      - { at: 1s, do: alice.call, to: bob }
      - { at: 3s, do: bob.accept }
      - { at: 4s, fault: link.set, link: bob/home, delay: 30ms, loss: 10%, for: 5s }
      - { at: 5s, do: alice.dtmf, digits: "1" }
      - { at: 6s, do: bob.dtmf, digits: "2" }
      - { at: 9s, fault: link.blackhole, link: alice/home, for: 3s }
      - { at: 9s, fault: link.set, link: bob/home, delay: 30ms, for: 7s }
      - { at: 30s, do: alice.hangup }
    expect:
    \(WireQuantity.Kind.allCases.map { "  - { count: \"wire.\($0.rawValue)(from: alice) > 0\", lte: 9 }\n" }.joined())
    \(NATValue.allCases.map { "  - { metric: network/alice/home.\($0.rawValue), stat: last, lt: 999999 }\n" }.joined())
    """

  /// What an app of ours does not do, and consent that expires.
  private static let strange = """
    callsim: 1
    id: strange
    peers:
      alice: { profile: strange, network: home }
      bob: { profile: strange, network: home }
    timeline:
      - { at: 1s, do: alice.call, to: bob }
      - { at: 3s, do: bob.accept }
      - { at: 10s, fault: link.down, link: alice/home }
    run: 60s
    media: synthetic
    expect:
      - { eventually: bob.call.state == ringing, within: 5s, of: start }
    """

  // MARK: Tests

  @Test func `every kind of the schema is written by some run`() throws {
    let names = WrittenNames()
    for (file, cell) in Self.shipped {
      let path = Self.root + "/scenarios/\(file).yaml"
      let loaded = ScenarioFile.load(path: path, registry: ProfileCatalogue.builtIn.registry)
      let found = try #require(loaded.scenario).cells.first { $0.id == file + cell }
      try names.play(try #require(found, "\(file)\(cell)"))
    }
    try names.play(try Self.valuesCell)
    try names.play(try Self.cell(Self.strange, StrangeApp.catalogue), try StrangeApp.catalogue)
    try names.resetHost()
    let declared = try Self.declaredNames
    #expect(declared.count > 80)
    #expect(Set(Self.unwritten.keys).isSubset(of: declared))
    #expect(declared.subtracting(Self.unwritten.keys).subtracting(names.all).sorted() == [])
    #expect(names.all.intersection(Self.unwritten.keys).sorted() == [], "take these off the list")
  }

  @Test func `every value, machine and event that a scenario may name is written`() throws {
    let names = WrittenNames()
    try names.play(try Self.valuesCell)
    // ICE restarts only where an app wants it, and a server errs only where it is made to.
    let elsewhere = [PeerConnectionEvents.restart.name, PeerConnectionEvents.serverError.name]
    let events = CommonVocabulary.events.map(\.name).filter { !elsewhere.contains($0) }
    let wanted = Self.vocabulary.values.map(\.name) + events + NATValue.allCases.map(\.rawValue)
    #expect(wanted.count > 100)
    #expect(wanted.filter { !names.all.contains($0) } == [])
    for kind in WireQuantity.Kind.allCases {
      #expect(names.all.contains(WireQuantity(kind: kind, from: "alice").kindName), "\(kind)")
    }
    #expect(try Self.declaredNames.isSuperset(of: elsewhere))
  }

  // MARK: Reading the schema

  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  private static var declaredNames: Set<String> {
    get throws {
      let folder = root + "/Sources/CallCore/Trace/Schema"
      let text = try FileManager.default.contentsOfDirectory(atPath: folder).map {
        try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8)
      }.joined()
      let declaration = /\b(?:TraceEvent|state|value|note|sample)\(\s*"([^"\\]+)"/
      let names = text.matches(of: declaration).map { String($0.output.1) }
      let ends = PeerConnectionEvents.PairEnd.allCases.flatMap { end in
        [
          PeerConnectionEvents.selectedType(end).name, PeerConnectionEvents.selectedAddress(end).name,
          PeerConnectionEvents.selectedProtocol(end).name, PeerConnectionEvents.selectedNetworkType(end).name,
          PeerConnectionEvents.selectedPort(end).name,
        ]
      }
      return Set(names + ends + [PeerConnectionEvents.selectedRelayProtocol.name])
    }
  }

  private static let vocabulary = PeerVocabulary(profile: KnotosApp.vocabulary)

  /// Statistics and qualities are sampled where an expectation reads them.
  private static var valuesCell: Cell {
    get throws {
      var cell = try cell(values, .builtIn)
      for value in vocabulary.values {
        let path = ValuePath(
          subject: "bob", name: value.name, type: value.type, unit: value.unit, counting: value.counting, span: .builtIn
        )
        guard path.isSampled else { continue }
        cell.scenario.expectations.append(Wanted(kind: .metric(path, .count, .atLeast(.count(1)))))
      }
      return cell
    }
  }

  private static func cell(_ text: String, _ profiles: ProfileCatalogue) throws -> Cell {
    let loaded = ScenarioFile.load(text: text, path: "test.yaml", registry: profiles.registry)
    return try #require(loaded.scenario, "\(loaded.report.rendered(as: .text(color: false)))").cells[0]
  }
}

/// The names of the kinds that runs write.
private final class WrittenNames: TraceObserver {
  private(set) var all: Set<String> = []

  func observe(_ record: TraceRecord, in trace: Trace) { all.insert(trace.name(of: record.kind)) }

  func play(_ cell: Cell, _ profiles: ProfileCatalogue = .builtIn) throws {
    var outputs = RunOutputs()
    outputs.observers = [self]
    _ = try SingleRun(cell: cell, seed: 1, path: "test.yaml", profiles: profiles).execute(outputs: outputs)
  }

  /// No fault of a scenario takes the power from a host.
  func resetHost() throws {
    let trace = Trace()
    trace.add(self)
    let simulator = Simulator(trace: trace, random: RandomSource(seed: 1))
    simulator.reset(try simulator.addHost("phone"))
  }
}
