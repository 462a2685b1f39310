internal import CallCore
package import Formats
internal import Foundation
internal import ScenarioFormat
internal import ScenarioRun

/// The folder that holds the files of runs: `callsim-runs/<id>#seed/`, the same for the same run every time.
public struct RunDirectory: Sendable {
  /// The name of the default folder.
  public static let defaultRoot = "callsim-runs"
  /// The length limit of names in file systems, in bytes.
  private static let nameLimit = 255

  /// The path of the folder.
  public let root: String

  /// Uses the folder at a path, which need not exist.
  public init(root: String = Self.defaultRoot) {
    self.root = root.count > 1 && root.hasSuffix("/") ? String(root.dropLast()) : root
  }

  /// Returns the folder of a run. Ids with `/` make nested folders; other characters that are special to file systems
  /// or shells are percent-encoded.
  public func path(of runID: String) -> String {
    var name = ""
    var isInCell = false
    for scalar in runID.unicodeScalars {
      if scalar == "[" { isInCell = true }
      let isPlain =
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_", "[", "]", "=", ",", "#", ".": true
        case "/": !isInCell
        default: scalar.value >= 0xA0
        }
      if isPlain {
        name.unicodeScalars.append(scalar)
      } else {
        for byte in String(scalar).utf8 {
          name += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
      }
    }
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    return root + "/" + parts.map { Self.shortened(String($0)) }.joined(separator: "/")
  }

  /// Shortens a name that is too long to its beginning and a hash of the whole name.
  private static func shortened(_ name: String) -> String {
    guard name.utf8.count > nameLimit else { return name }
    var start = name.prefix(nameLimit)
    while start.utf8.count > nameLimit - 17 { start.removeLast() }
    return "\(start)~\(RunResult.hexadecimal(FNV1a.hash(of: name)))"
  }

  /// Checks that runs can write files here, and leaves the file system unchanged.
  package func check() throws(FileError) {
    var missing: [String] = []
    var folder = root
    while !FileManager.default.fileExists(atPath: folder), folder != "/", folder != "." {
      missing.insert(folder, at: 0)
      folder = FileSink.folder(of: folder)
    }
    var made: [String] = []
    defer { for folder in made.reversed() { rmdir(folder) } }
    for folder in missing + ["\(root)/.check-\(getpid())"] {
      if mkdir(folder, 0o777) == 0 {
        made.append(folder)
      } else if errno != EEXIST {
        throw FileError(path: folder, reason: String(cString: strerror(errno)), code: errno)
      }
    }
  }

  /// Makes an empty folder for a run and deletes the files of an earlier run.
  static func prepare(_ folder: String) throws(FileError) {
    // Another suite may delete an empty parent folder before this run's folder is made in it.
    for attempt in 1...10 {
      do {
        if FileManager.default.fileExists(atPath: folder) { try FileManager.default.removeItem(atPath: folder) }
        return try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      } catch {
        // Foundation's message is several sentences long and omits the system's reason.
        let code = ((error as? CocoaError)?.underlying as? POSIXError)?.code.rawValue
        if code == ENOENT, attempt < 10 { continue }
        let said = code.map { String(cString: strerror($0)) } ?? "\(error)"
        throw FileError(path: folder, reason: "cannot be made: \(said)", code: code)
      }
    }
  }

  /// Deletes the files of a run, and parent folders that become empty.
  func discard(_ folder: String) {
    guard FileManager.default.fileExists(atPath: folder) else { return }
    try? FileManager.default.removeItem(atPath: folder)
    var parent = FileSink.folder(of: folder)
    while parent.count > root.count, rmdir(parent) == 0 { parent = FileSink.folder(of: parent) }
    tidy()
  }

  /// Deletes the `latest` link and `.gitignore` once no run uses them.
  func tidy() {
    guard FileManager.default.fileExists(atPath: root) else { return }
    let link = root + "/latest"
    if !FileManager.default.fileExists(atPath: link) { unlink(link) }
    let ignore = root + "/.gitignore"
    let names = try? FileManager.default.contentsOfDirectory(atPath: root)
    if names == [".gitignore"], FileManager.default.contents(atPath: ignore) == Data(Self.ignoreText.utf8) {
      unlink(ignore)
    }
    rmdir(root)
  }

  private static let ignoreText = "# Files of callsim runs\n*\n"

  /// Makes the link `callsim-runs/latest` point to a run's folder.
  func linkLatest(to folder: String) {
    let link = root + "/latest"
    unlink(link)
    // If the link cannot be made, only a convenience is lost.
    _ = symlink(String(folder.dropFirst(root.count + 1)), link)
  }

  /// Whether the folder can hold only files of runs.
  var isOurs: Bool { root == Self.defaultRoot || !FileManager.default.fileExists(atPath: root) }

  /// Excludes the folder from Git.
  func ignoreInGit() {
    let path = root + "/.gitignore"
    guard !FileManager.default.fileExists(atPath: path) else { return }
    _ = FileManager.default.createFile(atPath: path, contents: Data(Self.ignoreText.utf8))
  }

  /// Returns the names of the files that a run left, sorted.
  static func contents(of folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }
}
