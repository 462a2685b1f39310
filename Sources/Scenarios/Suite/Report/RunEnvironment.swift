internal import Foundation
public import PeerSession

/// The software and hardware that a run's bytes may depend on besides its file and seed.
///
/// If two machines get different trace hashes for the same seed, their environments show the difference.
public struct RunEnvironment: Sendable {
  /// The version of this source tree, defined only here.
  public static let version = "0.2.0"

  /// The version of the compiler that built this program.
  public static var swiftVersion: String {
    #if compiler(>=6.4)
      "6.4 or newer"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "6.2"
    #endif
  }

  /// The revision that the program was built from; nil when unknown.
  public var revision: String?
  /// The codec and cipher libraries with their versions.
  public var libraries: [MediaLibrary]
  /// The instruction sets by which codecs and ciphers choose their code.
  public var processorFeatures: [String]
  /// The model of the processor; nil where the system does not tell.
  public var processor: String?

  /// The environment of this process. `CALLSIM_REVISION` names the revision that the program was built from.
  public static var current: RunEnvironment {
    RunEnvironment(
      revision: ProcessInfo.processInfo.environment["CALLSIM_REVISION"].flatMap { $0.isEmpty ? nil : $0 },
      libraries: MediaLibrary.all, processorFeatures: ProcessorFeatures.current, processor: ProcessorFeatures.model)
  }

  /// The environment on one line, for the header of a suite.
  public var line: String {
    let versions = libraries.map { "\($0.name) \($0.version)" }.joined(separator: ", ")
    let features = processorFeatures.isEmpty ? "unknown" : processorFeatures.joined(separator: " ")
    return "\(versionText), \(versions), cpu \(features)"
  }

  /// `0.2.0 (3f2c9ab)`
  public var versionText: String { Self.version + (revision.map { " (\($0))" } ?? "") }
}

/// Reads which of the relevant instruction sets this processor has.
enum ProcessorFeatures {
  private static let known = [
    "sse4_1", "sse4_2", "aes", "pclmulqdq", "avx", "avx2", "fma", "avx512f", "avx512bw", "vaes", "sha_ni", "asimd",
    "neon", "sve", "pmull",
  ]

  private static let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)

  /// The first processor's `model name` (x86); others tell none.
  static var model: String? {
    text?.split(separator: "\n").first { $0.hasPrefix("model name") }?.split(separator: ":", maxSplits: 1).last.map {
      String($0.drop(while: \.isWhitespace))
    }
  }

  static var current: [String] {
    #if os(Linux)
      text.map(features) ?? []
    #elseif arch(arm64)
      return ["asimd", "aes", "pmull"]
    #else
      return []
    #endif
  }

  /// Returns the features in the first processor's `flags` (x86) or `Features` (Arm) line.
  static func features(in cpuinfo: String) -> [String] {
    for line in cpuinfo.split(separator: "\n") where line.hasPrefix("flags") || line.hasPrefix("Features") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let present = line[line.index(after: colon)...].split(separator: " ")
      return known.filter { name in present.contains { $0 == name } }
    }
    return []
  }
}
