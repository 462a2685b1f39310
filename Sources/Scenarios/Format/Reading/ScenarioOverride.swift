/// One `--set name=value` or `--peer name=external:COMMAND`.
public struct ScenarioOverride: Sendable, Equatable {
  public var name: String
  public var value: String

  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

extension ScenarioOverride {
  /// The peer whose place a program takes; nil when a variable is overridden.
  public var replacedPeer: String? { ProgramOverride(name, value)?.peer }

  /// The option of the command line that says this, and its argument.
  public var option: String { replacedPeer == nil ? "--set" : "--peer" }
  public var argument: String { "\(replacedPeer ?? name)=\(value)" }
}
