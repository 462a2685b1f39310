package import Formats
internal import Foundation
internal import ScenarioFormat
internal import ScenarioRun

/// Where the files of runs go: `callsim-runs/<id>#seed/`, the same for the same run every time.
public struct RunDirectory: Sendable {
  public static let defaultRoot = "callsim-runs"
  /// What file systems let a name have.
  private static let nameLimit = 255

  public let root: String

  public init(root: String = Self.defaultRoot) {
    self.root = root.count > 1 && root.hasSuffix("/") ? String(root.dropLast()) : root
  }

  /// The folder of a run. Path-like ids nest; what else a file system or a shell would choke on is percent-encoded.
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

  /// A name that is too long keeps its beginning; a hash of all of it keeps it apart from others.
  private static func shortened(_ name: String) -> String {
    guard name.utf8.count > nameLimit else { return name }
    var digest = FNV1a()
    digest.mix(name.utf8)
    var start = name.prefix(nameLimit)
    while start.utf8.count > nameLimit - 17 { start.removeLast() }
    return "\(start)~\(RunResult.hexadecimal(digest.value))"
  }

  /// Tells beforehand what a run that leaves its files would run into. What is there stays, and nothing new is left.
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

  /// Makes an empty folder for a run, in place of the one an earlier run left.
  static func prepare(_ folder: String) throws(FileError) {
    // Another suite in the same place may take an empty folder above this one away, between its making and ours.
    for attempt in 1...10 {
      do {
        if FileManager.default.fileExists(atPath: folder) { try FileManager.default.removeItem(atPath: folder) }
        return try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      } catch {
        // What Foundation says of it is several sentences, and less than the system said.
        let code = ((error as? CocoaError)?.underlying as? POSIXError)?.code.rawValue
        if code == ENOENT, attempt < 10 { continue }
        let said = code.map { String(cString: strerror($0)) } ?? "\(error)"
        throw FileError(path: folder, reason: "cannot be made: \(said)", code: code)
      }
    }
  }

  /// Takes away what a run left; folders above it go when they are empty.
  func discard(_ folder: String) {
    guard FileManager.default.fileExists(atPath: folder) else { return }
    try? FileManager.default.removeItem(atPath: folder)
    var parent = FileSink.folder(of: folder)
    while parent.count > root.count, rmdir(parent) == 0 { parent = FileSink.folder(of: parent) }
    tidy()
  }

  /// Takes the marks away that no run is left for.
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

  /// Makes `callsim-runs/latest` lead to a run's folder.
  func linkLatest(to folder: String) {
    let link = root + "/latest"
    unlink(link)
    // A link that cannot be made costs a convenience, not a result.
    _ = symlink(String(folder.dropFirst(root.count + 1)), link)
  }

  /// Whether nothing in the folder can be of somebody else.
  var isOurs: Bool { root == Self.defaultRoot || !FileManager.default.fileExists(atPath: root) }

  /// Keeps the folder out of what Git takes.
  func ignoreInGit() {
    let path = root + "/.gitignore"
    guard !FileManager.default.fileExists(atPath: path) else { return }
    _ = FileManager.default.createFile(atPath: path, contents: Data(Self.ignoreText.utf8))
  }

  /// What a run left, sorted.
  static func contents(of folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }
}
