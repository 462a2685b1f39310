internal import Formats
internal import Foundation

/// Where the files of runs go: `callsim-runs/<id>#seed/`, the same for the same run every time.
public enum RunDirectory {
  public static let root = "callsim-runs"

  /// The folder of a run. Path-like ids nest; what else a file system or a shell would choke on is percent-encoded.
  public static func path(of runID: String) -> String {
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
    return root + "/" + name
  }

  /// Makes an empty folder for a run, in place of the one an earlier run left.
  static func prepare(_ folder: String) throws(FileError) {
    do {
      if FileManager.default.fileExists(atPath: folder) { try FileManager.default.removeItem(atPath: folder) }
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      // What Foundation says of it is several sentences, and less than the system said.
      let code = ((error as? CocoaError)?.underlying as? POSIXError)?.code.rawValue
      let said = code.map { String(cString: strerror($0)) } ?? "\(error)"
      throw FileError(path: folder, reason: "cannot be made: \(said)", code: code)
    }
  }

  /// Takes away what a run left; folders above it go when they are empty.
  static func discard(_ folder: String) {
    try? FileManager.default.removeItem(atPath: folder)
    var parent = (folder as NSString).deletingLastPathComponent
    while !parent.isEmpty, rmdir(parent) == 0 { parent = (parent as NSString).deletingLastPathComponent }
  }

  /// Makes `callsim-runs/latest` lead to a run's folder.
  static func linkLatest(to folder: String) {
    let link = root + "/latest"
    unlink(link)
    // A link that cannot be made costs a convenience, not a result.
    _ = symlink(String(folder.dropFirst(root.count + 1)), link)
  }

  /// What a run left, sorted.
  static func contents(of folder: String) -> ArtifactList? {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder), !names.isEmpty else { return nil }
    return ArtifactList(folder: folder, names: names.sorted())
  }
}
