import Foundation
import Testing

/// The built program, run as users run it.
struct Program {
  struct Outcome {
    var status: Int32
    var output: String
    var errors: String
  }

  /// As the one place in the sources has it.
  static let version: String = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    let source = root.appending(path: "Sources/Scenarios/Suite/Report/RunEnvironment.swift")
    let text = (try? String(contentsOf: source, encoding: .utf8)) ?? ""
    let parts = text.components(separatedBy: "static let version = \"")
    return String((parts.last ?? "").prefix { $0 != "\"" })
  }()

  static let path = built("callsim")

  /// Next to the test bundle in the build folder.
  static func built(_ name: String) -> String {
    let fromBundle = Bundle.allBundles.map(\.bundlePath).first { $0.hasSuffix(".xctest") }
    let test = fromBundle ?? CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    return URL(filePath: test).deletingLastPathComponent().appending(path: name).path
  }

  /// Starts it in a folder, for whoever does not want what it prints.
  static func start(_ arguments: [String], in folder: String) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.currentDirectoryURL = URL(filePath: folder)
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// Runs it in a folder and waits for its end.
  ///
  /// - Parameters:
  ///   - program: what is run.
  ///   - launcher: a command that is to run it.
  ///   - interruptedAt: sends `signal` once standard output has this text.
  static func run(
    _ arguments: [String], of program: String = path, in folder: String = NSTemporaryDirectory(),
    environment: [String: String] = [:], launcher: [String] = [], interruptedAt text: String? = nil,
    with signal: Int32 = SIGINT
  ) throws -> Outcome {
    let running = try Running(arguments, of: program, in: folder, environment: environment, launcher: launcher)
    if let text { try running.interrupt(at: text, with: signal) }
    return try running.finish()
  }
}

/// The program at work, and the files it writes to instead of pipes: nothing can fill up while nobody reads.
final class Running {
  private let process = Process()
  private let names: [String]

  init(
    _ arguments: [String], of program: String = Program.path, in folder: String,
    environment: [String: String] = [:], launcher: [String] = []
  ) throws {
    let base = NSTemporaryDirectory() + "callsim-output-\(UUID().uuidString)"
    names = [base + ".out", base + ".err"]
    for name in names { _ = FileManager.default.createFile(atPath: name, contents: nil) }
    process.executableURL = URL(filePath: launcher.isEmpty ? program : "/usr/bin/env")
    process.arguments = launcher.isEmpty ? arguments : launcher + [program] + arguments
    process.currentDirectoryURL = URL(filePath: folder)
    var variables = ProcessInfo.processInfo.environment
    for name in ["GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "CALLSIM_REVISION", "COLUMNS"] { variables[name] = nil }
    variables.merge(environment) { $1 }
    process.environment = variables
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle(forWritingAtPath: names[0])
    process.standardError = FileHandle(forWritingAtPath: names[1])
    try process.run()
  }

  deinit { for name in names { try? FileManager.default.removeItem(atPath: name) } }

  func interrupt(at text: String, with signal: Int32) throws {
    while process.isRunning, try !String(contentsOfFile: names[0], encoding: .utf8).contains(text) { usleep(1_000) }
    kill(process.processIdentifier, signal)
  }

  /// Waits for its end.
  func finish() throws -> Program.Outcome {
    process.waitUntilExit()
    let texts = try names.map { try String(contentsOfFile: $0, encoding: .utf8) }
    return Program.Outcome(status: process.terminationStatus, output: texts[0], errors: texts[1])
  }
}

/// A folder with scenario files that is gone after the test.
final class Workspace {
  let path: String

  init(_ files: [String: String] = [:]) throws {
    path = NSTemporaryDirectory() + "callsim-cli-\(UUID().uuidString)"
    for (name, text) in files {
      let file = URL(filePath: path).appending(path: name)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func run(_ arguments: String..., environment: [String: String] = [:]) throws -> Program.Outcome {
    try Program.run(arguments, in: path, environment: environment)
  }

  func text(_ name: String) throws -> String { try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8) }
  func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(name)") }
}
