/// A declared state machine, by its name in scenarios: `call.state`.
public struct StateMachine: Sendable {
  /// The meaning of a state for the peer's call.
  public enum Role: String, Sendable, CaseIterable {
    /// There is no call.
    case idle
    /// The call rings: one of the users has not answered yet.
    case alerting
    /// All users have agreed to the call, and there is no media yet.
    case settingUp = "setting-up"
    /// Media may flow. A call stays there until a user ends it.
    case connected
    /// Media was lost, and the app tries to restore it.
    case recovering
    /// The call has ended.
    case over

    /// Whether a call may stay in such a state without limit.
    public var isSettled: Bool {
      switch self {
      case .idle, .connected, .over: true
      case .alerting, .settingUp, .recovering: false
      }
    }
  }

  /// A state of a machine.
  public struct State: Sendable {
    /// The name in scenarios.
    public let name: String
    /// A description for the documentation.
    public let summary: String
    /// The meaning for a call; nil in machines other than the profile's main one.
    public let role: Role?

    /// Declares a state.
    public init(_ name: String, _ summary: String, as role: Role? = nil) {
      self.name = name
      self.summary = summary
      self.role = role
    }
  }

  /// A permitted transition between two states.
  public struct Transition: Hashable, Sendable {
    /// The name of the state that is left.
    public let from: String
    /// The name of the state that is entered.
    public let to: String
    /// The profile's name for the cause.
    public let event: String

    /// Declares a transition.
    public init(_ from: String, _ to: String, on event: String) {
      self.from = from
      self.to = to
      self.event = event
    }
  }

  /// The name in scenarios.
  public let name: String
  /// Whom the states are of.
  public let scope: NameScope
  /// The states; the first is the initial one.
  public let states: [State]
  /// The permitted transitions.
  public let transitions: [Transition]

  /// Declares a machine.
  public init(_ name: String, of scope: NameScope = .peer, states: [State], transitions: [Transition]) {
    self.name = name
    self.scope = scope
    self.states = states
    self.transitions = transitions
  }

  /// Returns whether a transition is declared.
  public func allows(from: String, to: String) -> Bool {
    transitions.contains { $0.from == from && $0.to == to }
  }

  /// Returns the role of a state; nil if the state has none or is not declared.
  public func role(of state: String) -> Role? { states.first { $0.name == state }?.role }

  /// The states reachable from the first one, including it.
  var reachable: Set<String> {
    var found = Set(states.prefix(1).map(\.name))
    var count = 0
    while count != found.count {
      count = found.count
      for transition in transitions where found.contains(transition.from) { found.insert(transition.to) }
    }
    return found
  }
}
