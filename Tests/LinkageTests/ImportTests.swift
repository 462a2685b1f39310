import Foundation
import Testing

/// Who may import whom: the arrows of the architecture, checked on every source file.
@Suite struct ImportTests {
  /// A row for each target: its folder and everything it may import.
  private static let table: [(folder: String, imports: Set<String>)] = [
    ("CallCore", []),
    ("CallStack/Digests", ["COpenSSL"]),
    ("CallStack/STUN", ["CallCore", "Digests"]),
    ("CallStack/ICE", ["CallCore", "STUN"]),
    ("CallStack/TURN", ["CallCore", "STUN", "Digests"]),
    ("CallStack/SDP", ["CallCore"]),
    ("CallStack/RTP", ["CallCore"]),
    ("CallStack/CongestionControl", ["CallCore", "RTP"]),
    ("CallStack/Codecs", ["CallCore", "COpus", "CVPX"]),
    ("CallStack/JitterBuffer", ["CallCore", "RTP", "Codecs"]),
    ("CallStack/SRTP", ["CallCore", "CSRTP"]),
    ("CallStack/DTLS", ["CallCore", "SRTP", "COpenSSL", "CVirtualClock", "Synchronization"]),
    (
      "CallStack/CallSession",
      [
        "CallCore", "STUN", "ICE", "TURN", "SDP", "RTP", "CongestionControl", "JitterBuffer", "DTLS", "SRTP", "Codecs",
        "Digests",
      ]
    ),
    ("Formats", ["Glibc"]),
    (
      "LivePeer",
      [
        "CallCore", "CallSession", "Codecs", "DTLS", "Digests", "ICE", "SDP", "STUN", "TURN", "Formats", "CLinux",
        "Glibc", "Synchronization", "NIOCore", "NIOPosix", "NIOHTTP1",
      ]
    ),
    ("SimNet", ["CallCore"]),
    ("Vocabulary", ["CallCore", "Formats"]),
    (
      "VirtualPeer",
      [
        "CallCore", "SimNet", "CallSession", "STUN", "TURN", "ICE", "SDP", "DTLS", "Codecs", "Digests", "Formats",
        "Vocabulary", "Glibc",
      ]
    ),
    (
      "ExternalPeer",
      [
        "CallCore", "SimNet", "CallSession", "ICE", "SDP", "DTLS", "Formats", "VirtualPeer", "Vocabulary", "CLinux",
        "CNamespace", "Glibc",
      ]
    ),
    ("Profiles", ["CallCore", "CallSession", "Formats", "ICE", "SDP", "VirtualPeer", "Vocabulary"]),
    (
      "Scenarios",
      [
        "CallCore", "SimNet", "CallSession", "VirtualPeer", "ExternalPeer", "Profiles", "ICE", "DTLS", "STUN", "TURN",
        "CLinux",
        "Formats", "Vocabulary", "Foundation", "Glibc", "Synchronization",
      ]
    ),
    (
      "callsim",
      [
        "CallCore", "CallSession", "DTLS", "STUN", "TURN", "Formats", "LivePeer", "SimNet", "VirtualPeer", "Profiles",
        "Scenarios", "ArgumentParser", "Foundation",
      ]
    ),
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

  @Test func `every source file belongs to a target of the table`() {
    for file in SourceTree("Sources").files where !file.path.hasPrefix("Sources/CLibraries/") {
      let isKnown = Self.table.contains { file.path.hasPrefix("Sources/\($0.folder)/") }
      #expect(isKnown, "\(file.path)")
    }
  }
}
