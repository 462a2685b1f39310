internal import ExternalRecords
internal import Foundation
internal import ScenarioFormat

#if canImport(ExternalPeer)
  internal import ExternalPeer
#endif

/// Whether programs outside the simulation can take part in runs on this machine (`stack: external`).
public enum ExternalPrograms {
  /// What is missing, in words for a person; nil when nothing is.
  public static var problem: String? {
    #if canImport(ExternalPeer)
      ExternalSupport.problem
    #else
      "programs take part in runs on Linux alone"
    #endif
  }

  /// Why the scenario's programs cannot be run here; nil when they can, or there are none.
  static func obstacle(to scenario: Scenario) -> String? {
    guard scenario.isRealTime else { return nil }
    if let problem { return problem }
    #if canImport(ExternalPeer)
      return scenario.peers.lazy.filter { $0.stack == .external }
        .compactMap { ExternalSupport.problem(with: ExternalBuilder.command(of: $0)) }.first
    #else
      return nil
    #endif
  }

  /// Gives programs further variables of this process's environment, in this process and in those it starts.
  public static func pass(_ names: [String]) {
    guard !names.isEmpty else { return }
    let earlier = ProcessInfo.processInfo.environment[Self.passVariable].map { [$0] } ?? []
    setenv(Self.passVariable, (earlier + names).joined(separator: ","), 1)
  }

  private static var passVariable: String {
    #if canImport(ExternalPeer)
      ExternalSupport.passVariable
    #else
      "CALLSIM_PASS_ENV"
    #endif
  }

  /// From now on this process ends with the one that started it, where the system offers that.
  ///
  /// - Returns: false when that one has ended already.
  package static func endWithParent() -> Bool {
    #if canImport(ExternalPeer)
      ProcessTree.endWithParent()
    #else
      true
    #endif
  }
}
