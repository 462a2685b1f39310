public import CallSession
internal import Foundation

/// What a run's bytes may depend on besides its file and seed: the program, the libraries, the processor.
///
/// When two machines get different trace hashes for the same seed, the difference is here.
public struct RunEnvironment: Sendable {
  /// Of this source tree. This is the one place that has the number.
  public static let version = "0.2.0"

  /// Of the compiler this was built with.
  public static var swiftVersion: String {
    #if compiler(>=6.4)
      "6.4 or newer"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "6.2"
    #endif
  }

  public var revision: String?
  public var libraries: [MediaLibrary]
  /// Instruction sets that the codecs and ciphers choose their code by.
  public var processorFeatures: [String]

  /// Of this machine. `CALLSIM_REVISION` names the revision the program was built from, as the build knows it.
  public static var current: RunEnvironment {
    RunEnvironment(
      revision: ProcessInfo.processInfo.environment["CALLSIM_REVISION"].flatMap { $0.isEmpty ? nil : $0 },
      libraries: MediaLibrary.all, processorFeatures: ProcessorFeatures.current)
  }

  /// On one line, for the header of every suite.
  public var line: String {
    let versions = libraries.map { "\($0.name) \($0.version)" }.joined(separator: ", ")
    let features = processorFeatures.isEmpty ? "unknown" : processorFeatures.joined(separator: " ")
    return "\(versionText), \(versions), cpu \(features)"
  }

  /// `0.2.0 (3f2c9ab)`
  public var versionText: String { Self.version + (revision.map { " (\($0))" } ?? "") }
}

/// Reads which of the instruction sets that matter this processor has.
enum ProcessorFeatures {
  private static let known = [
    "sse4_1", "sse4_2", "aes", "pclmulqdq", "avx", "avx2", "fma", "avx512f", "avx512bw", "vaes", "sha_ni", "asimd",
    "neon", "sve", "pmull",
  ]

  static var current: [String] {
    #if os(Linux)
      guard let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8) else { return [] }
      return features(in: text)
    #elseif arch(arm64)
      return ["asimd", "aes", "pmull"]
    #else
      return []
    #endif
  }

  /// From the first processor's `flags` (x86) or `Features` (Arm) line.
  static func features(in cpuinfo: String) -> [String] {
    for line in cpuinfo.split(separator: "\n") where line.hasPrefix("flags") || line.hasPrefix("Features") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let present = line[line.index(after: colon)...].split(separator: " ")
      return known.filter { name in present.contains { $0 == name } }
    }
    return []
  }
}
