import Foundation
import ScenarioFormat

/// A git repository, by the git program.
struct GitRepository {
  private let root: String

  init(at folder: String) throws {
    let outcome = try Subprocess.run("/usr/bin/env", ["git", "rev-parse", "--show-toplevel"], in: folder)
    guard outcome.status == 0 else {
      throw UsageProblem(message: "\(TextStyle.printable(folder)) is in no git repository; run this command in yours")
    }
    root = outcome.output
  }

  /// Returns the hash of a commit.
  func commit(_ name: String) throws -> String {
    let outcome = try Subprocess.run("/usr/bin/env", ["git", "rev-parse", "--verify", name + "^{commit}"], in: root)
    guard outcome.status == 0 else {
      throw UsageProblem(message: "there is no commit \(TextStyle.printable(name)); see git log")
    }
    return outcome.output
  }

  /// Makes a working tree of a commit, by its hash, in a temporary folder.
  func addWorkingTree(at commit: String) throws -> WorkingTree {
    let path = FileManager.default.temporaryDirectory.appending(path: "bisect-\(UUID().uuidString)").path
    let tree = WorkingTree(path: path, root: root)
    let outcome = try Subprocess.run(
      "/usr/bin/env", ["git", "worktree", "add", "--quiet", "--detach", path, commit], in: root)
    guard outcome.status == 0 else { throw UsageProblem(message: "git worktree add failed: \(outcome.output)") }
    return tree
  }

  /// A working tree that belongs to one search.
  struct WorkingTree {
    let path: String
    fileprivate let root: String

    /// Runs git in the tree.
    ///
    /// - Returns: what it printed.
    @discardableResult
    func git(_ arguments: String..., isAllowedToFail: Bool = false) throws -> String {
      let outcome = try Subprocess.run("/usr/bin/env", ["git"] + arguments, in: path)
      guard outcome.status == 0 || isAllowedToFail else {
        throw UsageProblem(message: "git \(arguments.joined(separator: " ")) failed: \(outcome.output)")
      }
      return outcome.output
    }

    func remove() {
      _ = try? Subprocess.run("/usr/bin/env", ["git", "worktree", "remove", "--force", path], in: root)
    }
  }
}
