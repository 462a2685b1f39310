import CallCore
import Foundation
import Profiles
import Synchronization
import Testing
import VirtualPeer

@testable import Formats
@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

/// `mic: { file: … }`: what is played is read with the scenario, is part of what it is, and goes where it goes.
@Suite struct `Recordings that a scenario plays` {
  private static let folder = FormatTest.folder + "Valid/keys/"
  private static let low = FileManager.default.contents(atPath: folder + "low.wav").map { Array($0) } ?? []
  private static let high = FileManager.default.contents(atPath: folder + "high.wav").map { Array($0) } ?? []

  private static func scenario(_ alice: String, _ rest: String = "") -> String {
    """
    callsim: 1
    id: r
    \(rest)
    peers:
      alice: { profile: knotos, network: wifi, \(alice) }
      bob: { profile: knotos, network: wifi }
    timeline:
      - { id: call, at: 0s, do: alice.call, to: bob }
      - { when: bob.call.state == ringing, do: bob.accept }
      - { after: 1s, of: bob.connected, do: alice.hangup }
    expect:
      - { ends: alice, code: local-hangup, within: 20s, of: call }
    """
  }

  private static let playing = scenario("devices: { mic: { file: v.wav } }")

  /// - Parameter reads: gets the path of every file that is asked for.
  private func load(
    _ text: String, path: String = "t.yaml", _ files: [String: [UInt8]], reads: Reads = Reads(),
    overrides: [(name: String, value: String)] = []
  ) -> ScenarioFile.Result {
    ScenarioFile.load(
      bytes: Array(text.utf8), path: path, registry: ProfileCatalogue.builtIn.registry, overrides: overrides
    ) { path in
      reads.paths.withLock { $0.append(path) }
      return files[path]
    }
  }

  private final class Reads: Sendable {
    let paths = Mutex<[String]>([])
    var all: [String] { paths.withLock { $0 } }
  }

  private func microphone(_ result: ScenarioFile.Result, cell: Int = 0) throws -> Scenario.Devices.Microphone {
    let scenario = try #require(result.scenario?.cells[cell].scenario, "\(FormatTest.text(result))")
    return try #require(scenario.peer("alice")).devices.microphone
  }

  @Test func `a recording lies beside the file that names it`() throws {
    let here = load(Self.playing, path: "a/t.yaml", ["a/v.wav": Self.low])
    guard case .file(let recording, _) = try microphone(here) else {
      Issue.record("no file is played")
      return
    }
    #expect(recording.samples.count == 2_400 && recording.atEnd == .repeat)
    let used = """
      callsim: 1
      peers:
        speaker: { devices: { mic: { file: ../sounds/v.wav, at_end: silence } } }
      """
    let there = load(
      Self.scenario("use: speaker", "use: [../shared/peers/p.yaml]"), path: "a/b/t.yaml",
      ["a/shared/peers/p.yaml": Array(used.utf8), "a/shared/sounds/v.wav": Self.low])
    guard case .file(let other, let path) = try microphone(there) else {
      Issue.record("no file")
      return
    }
    #expect(other == Recording(recording.samples, atEnd: .silence))
    #expect(path.wrappedValue == "a/shared/sounds/v.wav")
  }

  @Test func `a peer keeps its own microphone though the peer it is made from plays a file`() throws {
    let used = "callsim: 1\npeers: { speaker: { devices: { mic: { file: v.wav } } } }"
    let result = load(
      Self.scenario("use: speaker, devices: { mic: tone }", "use: [p.yaml]"),
      ["p.yaml": Array(used.utf8), "v.wav": Self.low])
    #expect(try microphone(result) == .tone)
  }

  @Test func `each cell plays its own recording and no file is read twice`() throws {
    let reads = Reads()
    let text = Self.scenario(
      "devices: { mic: { file: \"${voice}.wav\" } }", "matrix: { voice: [low, high], seconds: [1, 2] }")
    let result = load(
      text.replacing("after: 1s", with: "after: \"${seconds}s\""), ["low.wav": Self.low, "high.wav": Self.high],
      reads: reads)
    #expect(try microphone(result, cell: 0) == microphone(result, cell: 1))
    #expect(try microphone(result, cell: 0) != microphone(result, cell: 2))
    #expect(reads.all == ["low.wav", "high.wav"])
  }

  @Test func `media are real where a microphone plays a file`() throws {
    let result = load(Self.playing, ["v.wav": Self.low])
    #expect(result.scenario?.cells.first?.scenario.media == .real)
  }

  @Test func `a recording that is too long is refused before it is looked into`() {
    let huge = Self.low + [UInt8](repeating: 0, count: 16 << 20)
    let text = FormatTest.text(load(Self.playing, path: "a/t.yaml", ["a/v.wav": huge]))
    #expect(text.contains("a/t.yaml:5:") && text.contains("E230"), "\(text)")
    #expect(text.contains("'v.wav' is larger than 16 MiB"), "\(text)")
    #expect(text.contains(": sox a/v.wav out.wav trim 0 170;"), "\(text)")
  }

  @Test func `recordings that are too large together are refused once and no more are read`() throws {
    let large = Self.low + [UInt8](repeating: 0, count: 11 << 20)
    let files = Dictionary(uniqueKeysWithValues: (1...5).map { ("a/\($0).wav", large) })
    func load(_ voices: String, _ reads: Reads) -> ScenarioFile.Result {
      let text = Self.scenario("devices: { mic: { file: \"${voice}.wav\" } }", "matrix: { voice: [\(voices)] }")
      return self.load(text, path: "a/t.yaml", files, reads: reads)
    }
    let reads = Reads()
    let refused = load("1, 2, 3, 4, 5", reads)
    let text = FormatTest.text(refused)
    #expect(refused.diagnostics.map(\.code) == [.badRecording], "\(text)")
    #expect(text.contains("a/t.yaml:5:") && text.contains("larger than 32 MiB together"), "\(text)")
    #expect(text.contains("sox a/3.wav out.wav trim 0 10;"), "\(text)")
    #expect(reads.all == ["a/1.wav", "a/2.wav", "a/3.wav"])
    #expect(load("1, 2", Reads()).scenario?.cells.count == 2)
  }

  @Test func `a command that a hint shows takes any path for a path`() {
    let name = "a;touch x;.wav"
    let playing = Self.scenario("devices: { mic: { file: \"\(name)\" } }")
    for (bytes, options) in [
      (Self.low + [UInt8](repeating: 0, count: 16 << 20), " out.wav"), ([1, 2, 3], " -r 48000"),
    ] {
      let text = FormatTest.text(load(playing, path: "w/t.yaml", ["w/\(name)": bytes]))
      #expect(text.contains(": sox 'w/\(name)'\(options)"), "\(text)")
    }
  }

  @Test func `another recording makes another scenario of the same text`() throws {
    let one = ScenarioSource(load(Self.playing, ["v.wav": Self.low]).report.sources)
    let again = ScenarioSource(load(Self.playing, ["v.wav": Self.low]).report.sources)
    let other = ScenarioSource(load(Self.playing, ["v.wav": Self.high]).report.sources)
    #expect(one == again && one.hash == again.hash)
    #expect(one.hash != other.hash)
    #expect(one.files.map(\.path) == ["t.yaml", "v.wav"])
  }

  @Test func `no two lists of texts and recordings have the same hash by their bytes alone`() {
    let text = ScenarioSource([.init(path: "a", text: "\u{1}\0\0\0\0\0\0\0x")])
    let recording = ScenarioSource([.init(path: "a", recording: [0x78])])
    #expect(text.hash != recording.hash)
    let two = ScenarioSource([.init(path: "a", recording: [1, 0xFF]), .init(path: "b", recording: [])])
    let one = ScenarioSource([.init(path: "a", recording: [1, 0xFF, 0x62, 0xFF])])
    #expect(two.hash != one.hash)
  }

  // MARK: Runs

  /// Every sample that bob hears of a run.
  private func heard(_ cell: Cell) throws -> (hash: UInt64, samples: [Int16]) {
    var outputs = RunOutputs()
    let ears = Ears()
    outputs.heard = { peer, samples in
      if peer == "bob" { samples.withUnsafeBufferPointer { ears.samples += $0 } }
    }
    let run = SingleRun(cell: cell, seed: 1, path: "t.yaml")
    return (try run.execute(outputs: outputs).traceHash, ears.samples)
  }

  private final class Ears { var samples: [Int16] = [] }

  @Test func `the other side hears the file, over and over or once`() throws {
    // A tone that lasts a second, in a call of three.
    let second = (0..<20).flatMap { _ in Self.low.dropFirst(44) }
    let tone = WAVFile.header(dataSize: UInt32(second.count)) + second
    func loudFrames(_ end: String) throws -> Int {
      let text = Self.scenario("devices: { mic: { file: v.wav, at_end: \(end) } }").replacing(
        "after: 1s", with: "after: 3s")
      let cell = try #require(load(text, ["v.wav": tone]).scenario?.cells.first)
      let samples = try heard(cell).samples
      return stride(from: 0, to: samples.count - 480, by: 480).count { start in
        samples[start..<start + 480].contains { $0.magnitude > 2_000 }
      }
    }
    #expect(try loudFrames("repeat") > 250)
    #expect((10...110).contains(try loudFrames("silence")))
  }

  /// A scenario on disk with its recording.
  private func saved() throws -> (folder: String, path: String) {
    let folder = NSTemporaryDirectory() + "callsim-recording-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Self.playing.write(toFile: folder + "/t.yaml", atomically: true, encoding: .utf8)
    try Data(Self.low).write(to: URL(filePath: folder + "/v.wav"))
    return (folder, folder + "/t.yaml")
  }

  @Test func `a worker plays the recording that was read, whatever became of the file`() throws {
    let (folder, path) = try saved()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = try #require(ScenarioFile.load(path: path, registry: ProfileCatalogue.builtIn.registry).scenario)
    let wanted = try heard(file.cells[0]).hash
    try Data(Self.high).write(to: URL(filePath: folder + "/v.wav"))
    let job = RunJob(source: file.source, cellID: file.cells[0].id, seed: 1)
    let line = job.json(hasFiles: true).description
    var worker = WorkerLoop(profiles: .builtIn)
    let reply = worker.execute(try #require(RunJob(json: JSON(parsing: line.utf8))))
    guard case .result(let result) = reply else {
      Issue.record("\(reply)")
      return
    }
    #expect(result.traceHash == wanted && result.verdict == .pass)
    let now = try #require(ScenarioFile.load(path: path, registry: ProfileCatalogue.builtIn.registry).scenario)
    #expect(try heard(now.cells[0]).hash != wanted)
  }

  @Test func `the folder of a run holds the recording, and names it when it has changed`() throws {
    let (folder, path) = try saved()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = try #require(ScenarioFile.load(path: path, registry: ProfileCatalogue.builtIn.registry).scenario)
    let job = RunJob(source: file.source, cellID: file.cells[0].id, seed: 1)
    try SavedRun(job).write(to: folder)
    let kept = try #require(SavedRun(folder: folder))
    #expect(kept.job == job && kept.changedPaths == [] && kept.missingPaths == [])
    try "louder".write(toFile: folder + "/v.wav", atomically: true, encoding: .utf8)
    #expect(kept.changedPaths == [folder + "/v.wav"] && kept.missingPaths == [])
    try FileManager.default.removeItem(atPath: folder + "/v.wav")
    #expect(kept.changedPaths == [] && kept.missingPaths == [folder + "/v.wav"])
    let loaded = ScenarioFile.load(source: kept.job.source, registry: ProfileCatalogue.builtIn.registry)
    #expect(try microphone(loaded) == microphone(load(Self.playing, ["v.wav": Self.low])))
  }

  @Test func `what a command reads includes the recordings, which no report may replace`() throws {
    let (folder, path) = try saved()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let collection = ScenarioCollection(paths: [path], registry: ProfileCatalogue.builtIn.registry, overrides: [])
    #expect(collection.inputs == [path, folder + "/v.wav"])
  }
}
