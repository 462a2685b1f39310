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

  /// The variable of the file; nil for an override of a peer, an arm or a measure.
  public var variable: String? { replacedPeer == nil && addedArm == nil && !isMeasure ? name : nil }

  /// The arm that is added; nil for any other override.
  private var addedArm: String? { ArmOverride(name, value)?.name }
  /// Whether it is a number to compare.
  private var isMeasure: Bool { MeasureOverride(name, value) != nil }

  /// The command line option of the override.
  public var option: String {
    if isMeasure { return "--measure" }
    return addedArm != nil ? "--arm" : replacedPeer == nil ? "--set" : "--peer"
  }
  /// The argument of the option.
  public var argument: String { isMeasure ? value : "\(replacedPeer ?? addedArm ?? name)=\(value)" }
}
