import Foundation
import Testing

/// Searches from the command line: the table of single moves, shards, resuming, reduction.
@Suite struct SearchTests {
  private static let call = """
    callsim: 1
    id: call
    peers:
      alice: { profile: knotos, network: internet }
      bob: { profile: knotos, network: internet }
    timeline:
      - { at: 0s, do: alice.call, to: bob }
      - { when: bob.call.state == ringing, do: bob.accept }
      - { after: 500ms, of: bob.connected, do: alice.hangup }
    expect: invariants
    """

  private static func folder() throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "callsim-search-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try call.write(toFile: folder + "/call.yaml", atomically: true, encoding: .utf8)
    return folder
  }

  private static func fuzz(_ folder: String, _ arguments: String...) throws -> Program.Outcome {
    try Program.run(["fuzz", folder + "/call.yaml", "--moves", "drop,action"] + arguments)
  }

  private static func blocks(_ folder: String) throws -> [String: String] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/blocks")
    return try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try String(contentsOfFile: "\(folder)/blocks/\($0)", encoding: .utf8)) })
  }

  @Test func `shards together hold what one search holds, with any number of jobs`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let whole = try Self.fuzz(folder, "--runs", "230", "--corpus", folder + "/whole", "--jobs", "2")
    #expect(whole.status == 0, "\(whole.output)\(whole.errors)")
    for shard in ["1/2", "2/2"] {
      let outcome = try Self.fuzz(
        folder, "--runs", "230", "--corpus", folder + "/" + shard.prefix(1), "--shard", shard, "--jobs", "1")
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(outcome.output.contains(" runs in shard \(shard), "), "\(outcome.output)")
    }
    let merged = try Program.run(["merge", folder + "/1", folder + "/2"])
    #expect(merged.output == "230 runs in 2 blocks, 0 findings\n")
    #expect(try Self.blocks(folder + "/1") == Self.blocks(folder + "/whole"))
  }

  @Test func `the table leaves out what would meet nothing, and says so`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let outcome = try Program.run([
      "fuzz", folder + "/call.yaml", "--exhaustive", "--moves", "drop", "--corpus", folder + "/corpus",
    ])
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.output == "5 of 5 rows of the table, in 5 of them every move met something; 0 findings\n")
    #expect(
      outcome.errors.contains("note: call: 7 moves are not tried: no such message comes: call_offer, call_decline"))
  }

  @Test func `a block keeps why a move met nothing`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    _ = try Program.run([
      "fuzz", folder + "/call.yaml", "--exhaustive", "--moves", "device", "--corpus", folder + "/corpus",
    ])
    let block = try #require(try Self.blocks(folder + "/corpus").first?.value)
    #expect(block.contains("\"effective\":12,\"unmet\":[\"call#1, run 0.5: it met nothing: no such event came"))
  }

  @Test func `a search goes on where it was, and refuses the folder of another`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    _ = try Self.fuzz(folder, "--runs", "20", "--corpus", folder + "/corpus")
    let again = try Self.fuzz(folder, "--runs", "20", "--corpus", folder + "/corpus")
    #expect(again.output.hasPrefix("20 of 20 runs"))
    let other = try Self.fuzz(folder, "--runs", "20", "--seed", "2", "--corpus", folder + "/corpus")
    #expect(other.status == 2)
    #expect(other.errors.contains("holds another campaign: other files, seed or moves"))
  }

  @Test func `a failing run is reduced to what it needs`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let failing = Self.call.replacing(
      "expect: invariants",
      with: """
          - { at: 3s, fault: signal.delay, message: call_hangup, by: 1730ms }
        expect:
          - { ends: bob, code: remote-hangup }
          - { never: alice.call.state == connecting }
        """)
    try failing.write(toFile: folder + "/call.yaml", atomically: true, encoding: .utf8)
    let outcome = try Program.run(["shrink", "call#1", folder + "/call.yaml", "-o", folder + "/small.yaml"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    let small = try String(contentsOfFile: folder + "/small.yaml", encoding: .utf8)
    #expect(small.contains("never: alice.call.state == connecting"))
    #expect(!small.contains("hangup"))
    #expect(try Program.run(["run", folder + "/small.yaml", "--artifacts", "none"]).status == 1)
  }

  @Test func `regressions are played first, and one that fails is told`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let regressions = folder + "/corpus/regressions"
    try FileManager.default.createDirectory(atPath: regressions, withIntermediateDirectories: true)
    let failing = Self.call.replacing("expect: invariants", with: "expect: [{ never: bob.call.state == ringing }]")
    try Self.call.write(toFile: regressions + "/a.yaml", atomically: true, encoding: .utf8)
    try failing.write(toFile: regressions + "/b.yaml", atomically: true, encoding: .utf8)
    try "callsim: 99".write(toFile: regressions + "/c.yaml", atomically: true, encoding: .utf8)
    let outcome = try Self.fuzz(folder, "--runs", "1", "--corpus", folder + "/corpus")
    #expect(outcome.status == 5)
    #expect(outcome.output.contains("STILL FAILS \(regressions)/b.yaml"))
    #expect(outcome.output.contains("1 of 3 regressions passed"))
    #expect(outcome.errors.contains("c.yaml does not fit this version any more: E2"))
  }

  @Test func `the folder of another version gives its findings as regressions, and is made again`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let corpus = folder + "/corpus"
    _ = try Self.fuzz(folder, "--runs", "20", "--corpus", corpus)
    let plan = try String(contentsOfFile: corpus + "/campaign.json", encoding: .utf8)
    let program = try #require(plan.firstRange(of: #/"program":"[^"]*"/#))
    try plan.replacingCharacters(in: program, with: "\"program\":\"older\"")
      .write(toFile: corpus + "/campaign.json", atomically: true, encoding: .utf8)
    let finding = corpus + "/findings/consent-1"
    try FileManager.default.createDirectory(atPath: finding, withIntermediateDirectories: true)
    try Self.call.write(toFile: finding + "/minimal.yaml", atomically: true, encoding: .utf8)
    let again = try Self.fuzz(folder, "--runs", "20", "--corpus", corpus)
    #expect(again.status == 0, "\(again.errors)")
    #expect(again.output.hasPrefix("1 of 1 regression passed\n20 of 20 runs"))
    #expect(FileManager.default.fileExists(atPath: corpus + "/regressions/consent-1.yaml"))
  }

  @Test func `damaged parts of a folder are made again`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let corpus = folder + "/corpus"
    _ = try Self.fuzz(folder, "--runs", "20", "--corpus", corpus)
    let whole = try Self.blocks(corpus)
    for damage in ["", "{", #"{"block":0,"runs":9223372036854775807,"effective":0,"features":0,"buckets":[]}"#] {
      try damage.write(toFile: corpus + "/blocks/000000.json", atomically: true, encoding: .utf8)
      #expect(try Self.fuzz(folder, "--runs", "20", "--corpus", corpus).status == 0)
      #expect(try Self.blocks(corpus) == whole)
    }
  }

  @Test func `a block of another search is made again`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (corpus, other) = (folder + "/corpus", folder + "/other")
    _ = try Self.fuzz(folder, "--runs", "20", "--corpus", corpus)
    _ = try Self.fuzz(folder, "--runs", "20", "--corpus", other, "--seed", "2")
    let whole = try Self.blocks(corpus)
    let foreign = try Self.blocks(other)
    #expect(foreign != whole)
    try #require(foreign["000000.json"]).write(
      toFile: corpus + "/blocks/000000.json", atomically: true, encoding: .utf8)
    #expect(try Self.fuzz(folder, "--runs", "20", "--corpus", corpus).status == 0)
    #expect(try Self.blocks(corpus) == whole)
  }

  @Test func `a scenario that cannot be played without moves is named`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let outcome = try Program.run([
      "fuzz", folder + "/call.yaml", "--moves", "nat", "--corpus", folder + "/corpus",
    ])
    #expect(outcome.status == 7)
    #expect(outcome.errors.contains("call is not varied: none of these moves can be made in it"))
  }

  @Test func `a share that is put together again gives what it has reduced since`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for shard in ["1", "2"] {
      _ = try Self.fuzz(folder, "--runs", "230", "--corpus", folder + "/" + shard, "--shard", shard + "/2")
    }
    let block = folder + "/2/blocks/000001.json"
    let place = #"""
      {"block":1,"number":0,"cell":"call","path":"call.yaml","seed":1,"variation":{"kinds":[],"most":1,"row":0}}
      """#
    let bucket = #""signature":"consent | x","title":"consent","actual":"a","count":1"#
    let found = try String(contentsOfFile: block, encoding: .utf8).replacing(
      #""buckets":[]"#, with: #""buckets":[{\#(bucket),"first":\#(place),"last":\#(place)}]"#)
    try found.write(toFile: block, atomically: true, encoding: .utf8)
    let early = try Program.run(["merge", folder + "/1", folder + "/2"])
    #expect(early.status == 5)
    #expect(!early.output.contains("play it"))
    // The share has kept the run that it has not reduced.
    let hash = String(Self.hash(of: "consent | x"), radix: 16).prefix(8)
    let finding = folder + "/2/findings/consent-\(hash)"
    try FileManager.default.createDirectory(atPath: finding, withIntermediateDirectories: true)
    try Self.call.write(toFile: finding + "/original.yaml", atomically: true, encoding: .utf8)
    #expect(try !Program.run(["merge", folder + "/1", folder + "/2"]).output.contains("play it"))
    #expect(FileManager.default.fileExists(atPath: folder + "/1/findings/consent-\(hash)/original.yaml"))
    // The share reduces its finding after it was put together.
    try Self.call.write(toFile: finding + "/minimal.yaml", atomically: true, encoding: .utf8)
    #expect(try Program.run(["merge", folder + "/1", folder + "/2"]).output.contains("play it"))
  }

  /// FNV-1a, as names of findings have it.
  private static func hash(of text: String) -> UInt64 {
    text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
