import Foundation
import Testing

@testable import ExternalPeer

@Suite struct FolderTests {
  /// More than the kernel hands over in one go, so that entries stand at the very end of the memory it fills.
  @Test func `the names in a large folder are all there`() throws {
    let folder = NSTemporaryDirectory() + "callsim-folder-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let names = (0..<3_000).map { "\($0)" }
    for name in names { try #require(FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: nil)) }
    #expect(Set(NetworkNamespace.names(in: folder)) == Set(names + [".", ".."]))
  }

  @Test func `a folder that is not there has no names`() {
    #expect(NetworkNamespace.names(in: "/nowhere/at/all").isEmpty)
  }
}
