import Foundation
import Testing

/// Bisecting: a repository whose program is a script that passes or fails.
@Suite struct BisectTests {
  /// A repository with a commit for each script, and a scenario file.
  private static func repository(_ scripts: [String]) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "callsim-bisect-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try "callsim: 1\n".write(toFile: folder + "/call.yaml", atomically: true, encoding: .utf8)
    try git(folder, "init", "--quiet")
    for (number, script) in scripts.enumerated() {
      try "#!/bin/sh\n# \(number)\n\(script)\n".write(toFile: folder + "/source.sh", atomically: true, encoding: .utf8)
      try git(folder, "add", "-A")
      try git(folder, "commit", "--quiet", "-m", "commit \(number)")
      try git(folder, "tag", "c\(number)")
    }
    return folder
  }

  private static func git(_ folder: String, _ arguments: String...) throws {
    let identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    let outcome = try Program.run(identity + arguments, of: "/usr/bin/git", in: folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  private static func bisect(_ folder: String, good: String, bad: String = "HEAD") throws -> Program.Outcome {
    try Program.run(
      [
        "bisect", "call.yaml", "--good", good, "--bad", bad, "--program", "program", "--build",
        "cp source.sh program && chmod +x program",
      ], in: folder)
  }

  @Test func `the first commit that fails is found, in a tree of its own`() throws {
    let folder = try Self.repository(["exit 0", "exit 0", "exit 0", "exit 5", "exit 1", "exit 5"])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let outcome = try Self.bisect(folder, good: "c0")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains("commit 3"))
    #expect(!FileManager.default.fileExists(atPath: folder + "/program"))
    let trees = try Program.run(["worktree", "list"], of: "/usr/bin/git", in: folder)
    #expect(trees.output.split(separator: "\n").count == 1)
  }

  @Test func `a commit that cannot judge the file is skipped`() throws {
    let folder = try Self.repository(["exit 0", "exit 0", "exit 3", "exit 5", "exit 5"])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let outcome = try Self.bisect(folder, good: "c0")
    #expect(outcome.errors.contains("is skipped: it cannot judge the file (exit code 3)"))
    #expect(outcome.status == 4)
    #expect(outcome.errors.contains("the commits that are left cannot be judged"))
  }

  @Test func `ends that are not what they are called are refused`() throws {
    let folder = try Self.repository(["exit 5", "exit 5"])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let outcome = try Self.bisect(folder, good: "c0")
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("at c0 call.yaml fails; --good takes a commit at which it passes"))
    let unknown = try Self.bisect(folder, good: "c0", bad: "nothing")
    #expect(unknown.status == 2)
    #expect(unknown.errors.contains("there is no commit nothing"))
  }

  @Test func `outside a repository the command says so`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "callsim-none-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try "callsim: 1\n".write(toFile: folder + "/call.yaml", atomically: true, encoding: .utf8)
    let outcome = try Self.bisect(folder, good: "HEAD~1")
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("is in no git repository"))
  }
}
