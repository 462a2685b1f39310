internal import CallCore
internal import CallSession
internal import Foundation
internal import VirtualPeer

/// One thing that runs rest on, tried out on this machine.
public struct SelfCheck: Sendable {
  public let name: String
  public let isPassed: Bool
  /// What to do when it fails.
  public let advice: String

  public static var all: [SelfCheck] { [virtualClock, randomness, runFolder] }

  private static var virtualClock: SelfCheck {
    SelfCheck(
      name: "virtual clock", isPassed: MediaLibrary.readsVirtualClock,
      advice: "OpenSSL does not read the program's gettimeofday; build callsim with OpenSSL as a shared library")
  }

  /// The first number of a stream is part of the format: another one would change every run.
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
