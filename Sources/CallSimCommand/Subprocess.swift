import Foundation

/// A program that is run to its end.
enum Subprocess {
  /// - Returns: the exit status, and standard output without the space at its ends, or standard error where it failed.
  static func run(_ program: String, _ arguments: [String], in folder: String) throws -> (status: Int32, output: String)
  {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.currentDirectoryURL = URL(filePath: folder)
    process.standardInput = FileHandle.nullDevice
    // Files, because a build may leave a process behind that keeps its end of a pipe.
    let path = FileManager.default.temporaryDirectory.appending(path: "callsim-\(UUID().uuidString)").path
    let files = [path + ".out", path + ".err"]
    defer { for file in files { try? FileManager.default.removeItem(atPath: file) } }
    for file in files { _ = FileManager.default.createFile(atPath: file, contents: nil) }
    process.standardOutput = FileHandle(forWritingAtPath: files[0])
    process.standardError = FileHandle(forWritingAtPath: files[1])
    try process.run()
    process.waitUntilExit()
    let status = process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
    let texts = files.map { file in
      String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }
    return (status, status == 0 || texts[1].isEmpty ? texts[0] : texts[1])
  }
}
