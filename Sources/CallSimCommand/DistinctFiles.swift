import Foundation

/// Checks the files of options. Two options that write the same file would overwrite each other, and a file that is
/// also read would be emptied first.
enum DistinctFiles {
  /// Checks that no two options name the same file.
  ///
  /// - Parameters:
  ///   - files: The files of options.
  ///   - inputs: Scenario files, which are only read and may be named twice.
  /// - Throws: ``UsageProblem`` if two options name the same regular file, by any path.
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

  /// Returns the identity of a file; nil if it is not regular, such as a device, because several options can write into
  /// it.
  private static func identity(of path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      return URL(fileURLWithPath: path).resolvingSymlinksInPath().standardizedFileURL.path
    }
    return status.st_mode & S_IFMT == S_IFREG ? "\(status.st_dev):\(status.st_ino)" : nil
  }
}
