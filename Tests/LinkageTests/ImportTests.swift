import Foundation
import Testing

/// Who may import whom: the arrows of the architecture, checked on every source file.
@Suite struct ImportTests {
  /// A row for each target: its folder and everything it may import.
  private static let table: [(folder: String, imports: Set<String>)] = [
    // Under the one name of the platform that it is built for.
    ("LibC", ["Glibc", "Musl", "Darwin"]),
    ("CallCore", []),
    ("CallStack/Digests", ["COpenSSL"]),
    ("CallStack/STUN", ["CallCore", "Digests"]),
    ("CallStack/ICE", ["CallCore", "STUN"]),
    ("CallStack/TURN", ["CallCore", "STUN", "Digests"]),
    ("CallStack/SDP", ["CallCore"]),
    ("CallStack/Bitstreams", ["CallCore"]), ("CallStack/RTP", ["Bitstreams", "CallCore"]),
    ("CallStack/CongestionControl", ["CallCore", "RTP"]),
    ("CallStack/Pictures", ["CallCore"]),
    (
      "CallStack/Codecs",
      ["Bitstreams", "CallCore", "Pictures", "COpus", "CVPX", "COpenH264", "CAOM", "CDAV1D", "Synchronization"]
    ),
    ("CallStack/JitterBuffer", ["CallCore", "RTP", "Codecs"]),
    ("CallStack/VideoReceive", ["Bitstreams", "CallCore", "RTP"]),
    ("CallStack/SRTP", ["CallCore", "COpenSSL"]),
    ("CallStack/SCTP", ["CallCore", "Digests"]),
    ("CallStack/DTLS", ["CallCore", "SRTP", "COpenSSL", "CVirtualClock", "Synchronization"]),
    ("CallStack/Statistics", []),
    (
      "CallStack/PeerSession",
      [
        "CallCore", "Statistics", "STUN", "ICE", "TURN", "SDP", "RTP", "CongestionControl", "JitterBuffer", "DTLS",
        "SRTP", "SCTP", "Codecs", "Digests", "Pictures", "VideoReceive",
      ]
    ),
    ("Formats", ["LibC"]),
    (
      "LivePeer",
      [
        "CallCore", "PeerSession", "Statistics", "Codecs", "DTLS", "Digests", "ICE", "SCTP", "SDP", "STUN", "TURN",
        "Formats", "CLinux",
        "Glibc", "LibC", "Pictures", "Synchronization", "NIOCore", "NIOPosix", "NIOHTTP1",
      ]
    ),
    ("SimNet", ["CallCore"]),
    ("Vocabulary", ["CallCore", "Formats"]),
    (
      "VirtualPeer",
      [
        "CallCore", "SimNet", "PeerSession", "Statistics", "STUN", "TURN", "ICE", "SCTP", "SDP", "DTLS", "Codecs",
        "Digests", "Formats", "LibC", "Pictures", "Vocabulary",
      ]
    ),
    ("ExternalRecords", ["CallCore"]),
    (
      "ExternalPeer",
      [
        "CallCore", "Digests", "ExternalRecords", "SimNet", "PeerSession", "Statistics", "ICE", "SCTP", "SDP", "DTLS",
        "Formats", "VirtualPeer", "Vocabulary",
        "CLinux",
        "CNamespace", "Glibc",
      ]
    ),
    (
      "Profiles",
      [
        "CallCore", "CExpat", "Digests", "PeerSession", "Formats", "ICE", "SCTP", "SDP", "Statistics", "VirtualPeer",
        "Vocabulary",
      ]
    ),
    (
      "Scenarios/Format",
      ["CallCore", "Formats", "Pictures", "SimNet", "Vocabulary", "Foundation", "Synchronization"]
    ),
    (
      "Scenarios/Judge",
      ["CallCore", "Formats", "ScenarioFormat", "SimNet", "Statistics", "Vocabulary", "Foundation"]
    ),
    (
      "Scenarios/Run",
      [
        "CallCore", "Codecs", "PeerSession", "DTLS", "Digests", "ExternalPeer", "ExternalRecords", "Formats", "ICE",
        "Pictures",
        "Profiles",
        "STUN",
        "ScenarioFormat",
        "ScenarioJudge", "SimNet", "Statistics", "TURN", "VirtualPeer", "Vocabulary", "Foundation", "LibC",
        "Synchronization",
      ]
    ),
    ("Scenarios/Search", ["CallCore", "ScenarioFormat", "Vocabulary"]),
    (
      "Scenarios/Suite",
      [
        "CLinux", "CallCore", "Codecs", "PeerSession", "ExternalRecords", "Formats", "Pictures", "Profiles",
        "ScenarioFormat", "ScenarioJudge",
        "ScenarioRun", "ScenarioSearch", "SimNet", "VirtualPeer", "Vocabulary", "Foundation",
      ]
    ),
    (
      "Umbrella",
      [
        "CallCore", "Codecs", "DTLS", "PeerSession", "Formats", "ICE", "Profiles", "SCTP", "SDP", "ScenarioFormat",
        "ScenarioJudge", "ScenarioRun", "ScenarioSuite", "SimNet", "Statistics", "VirtualPeer", "Vocabulary",
      ]
    ),
    ("CallSimTesting", ["CallSim", "Foundation", "Testing"]),
    (
      "CallSimCommand",
      [
        "CallCore", "PeerSession", "CallSim", "DTLS", "STUN", "TURN", "Formats", "LivePeer", "SimNet", "VirtualPeer",
        "Profiles", "ScenarioFormat", "ScenarioJudge", "ScenarioRun", "ScenarioSearch", "ScenarioSuite",
        "ArgumentParser", "Foundation",
      ]
    ),
    ("callsim", ["CallSimCommand"]),
  ]

  @Test(arguments: table.map(\.folder))
  func `a target imports only what stands below it`(folder: String) throws {
    let allowed = try #require(Self.table.first { $0.folder == folder }).imports
    let files = SourceTree("Sources/" + folder).files
    #expect(!files.isEmpty)
    for file in files {
      for (module, line) in file.imports where !allowed.contains(module) {
        Issue.record("\(file.path):\(line): imports \(module), which \(folder) may not")
      }
    }
  }

  @Test func `reading scenario files needs neither OpenSSL nor a codec`() {
    var reached: Set<String> = []
    var next = ["ScenarioFormat"]
    while let module = next.popLast() {
      guard reached.insert(module).inserted, let row = Self.table.first(where: { Self.module(of: $0.folder) == module })
      else { continue }
      next += row.imports
    }
    let libraries: Set = ["Foundation", "LibC", "Glibc", "Musl", "Darwin", "Synchronization"]
    #expect(reached == libraries.union(["ScenarioFormat", "CallCore", "Formats", "Pictures", "SimNet", "Vocabulary"]))
  }

  /// `Sources/Scenarios/Format` is ScenarioFormat; any other folder has its module's name.
  private static func module(of folder: String) -> String {
    folder.replacingOccurrences(of: "Scenarios/", with: "Scenario").split(separator: "/").last.map(String.init)
      ?? folder
  }

  /// Modules that some platforms have and others have not.
  private static let platformModules: Set = [
    "Glibc", "Musl", "Darwin", "CLinux", "CNamespace", "ExternalPeer", "LivePeer",
  ]

  /// What may need Linux.
  private static let linuxFolders = ["Sources/ExternalPeer/", "Sources/LivePeer/System/", "Sources/CallSimCommand/"]

  @Test func `what only one platform has is imported under a condition`() {
    let files = SourceTree("Sources").files.filter { file in !Self.linuxFolders.contains { file.path.hasPrefix($0) } }
    var count = 0
    for file in files {
      for (module, line) in file.imports where Self.platformModules.contains(module) {
        count += 1
        if !file.isConditional(line) { Issue.record("\(file.path):\(line): imports \(module) on every platform") }
      }
    }
    #expect(count >= 3)
  }

  @Test func `the check of conditions finds what it looks for`() {
    let lines = [
      "import Glibc", "#if canImport(Glibc)", "  import Glibc", "#elseif canImport(Musl)", "  import Musl", "#endif",
      "import CLinux",
    ]
    let file = SourceTree.File(path: "x", lines: lines)
    #expect(file.imports.filter { !file.isConditional($0.line) }.map(\.line) == [1, 7])
  }

  @Test func `every source file belongs to a target of the table`() {
    for file in SourceTree("Sources").files where !file.path.hasPrefix("Sources/CLibraries/") {
      let isKnown = Self.table.contains { file.path.hasPrefix("Sources/\($0.folder)/") }
      #expect(isKnown, "\(file.path)")
    }
  }
}
