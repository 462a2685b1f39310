/// One `--set name=value` or `--peer name=external:COMMAND`.
public struct ScenarioOverride: Sendable, Equatable {
  /// The name of the variable, or the encoded name of the peer.
  public var name: String
  /// The new value.
  public var value: String

  /// Creates an override; ``ProgramOverride/override(peer:value:)`` makes those of peers.
  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

extension ScenarioOverride {
  /// The peer that a program replaces; nil for an override of a variable.
  public var replacedPeer: String? { ProgramOverride(name, value)?.peer }

  /// The command line option of the override.
  public var option: String { replacedPeer == nil ? "--set" : "--peer" }
  /// The argument of the option.
  public var argument: String { "\(replacedPeer ?? name)=\(value)" }
}
