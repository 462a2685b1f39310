import Foundation

/// The files that options name. Two that write one file would lose what one of them wrote, and one that is read would be
/// emptied first.
enum DistinctFiles {
  /// - Parameters:
  ///   - files: what options name.
  ///   - inputs: scenario files, which are read and may be read twice.
  /// - Throws: ``UsageProblem`` when two options name one regular file, by whatever path.
  static func check(_ files: [(option: String, path: String?)], inputs: [String] = []) throws {
    var taken: [String: String] = [:]
    for path in inputs { if let identity = identity(of: path) { taken[identity] = "a scenario" } }
    for (option, path) in files {
      guard let path, let identity = identity(of: path) else { continue }
      if let other = taken[identity] {
        throw UsageProblem(message: "\(other) and \(option) name the same file, '\(path)'")
      }
      taken[identity] = option
    }
  }

  /// Nil for what is no regular file, such as a device: of those many can write into one.
  private static func identity(of path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      return URL(fileURLWithPath: path).resolvingSymlinksInPath().standardizedFileURL.path
    }
    return status.st_mode & S_IFMT == S_IFREG ? "\(status.st_dev):\(status.st_ino)" : nil
  }
}
