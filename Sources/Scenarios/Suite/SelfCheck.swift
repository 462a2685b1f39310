internal import CallCore
internal import Foundation
internal import PeerSession
internal import VirtualPeer

/// A check of one property of this machine that runs depend on.
public struct SelfCheck: Sendable {
  /// The checked property.
  public let name: String
  /// Whether the check passed.
  public let isPassed: Bool
  /// Advice for a failed check.
  public let advice: String

  /// All checks, each performed anew.
  public static var all: [SelfCheck] { [virtualClock, randomness, runFolder] }

  private static var virtualClock: SelfCheck {
    SelfCheck(
      name: "virtual clock", isPassed: MediaLibrary.readsVirtualClock,
      advice: "OpenSSL does not read the program's gettimeofday; build callsim with OpenSSL as a shared library")
  }

  /// The first number of a stream is part of the format: a different one would change every run.
  private static var randomness: SelfCheck {
    var one = RandomSource(seed: 1).stream("doctor")
    var other = RandomSource(seed: 1).stream("doctor")
    let isPassed = (0..<16).allSatisfy { _ in one.next() == other.next() }
    return SelfCheck(name: "random streams", isPassed: isPassed, advice: "report this as a defect of callsim")
  }

  private static var runFolder: SelfCheck {
    let folder = FileManager.default.fileExists(atPath: RunDirectory.defaultRoot) ? RunDirectory.defaultRoot : "."
    return SelfCheck(
      name: "run folder", isPassed: FileManager.default.isWritableFile(atPath: folder),
      advice: "this folder cannot be written; run elsewhere, or with --artifacts none")
  }
}
