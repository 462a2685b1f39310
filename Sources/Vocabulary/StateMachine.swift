/// A declared state machine, named as scenarios name it: `call.state`.
public struct StateMachine: Sendable {
  /// What a state means for the peer's call.
  public enum Role: String, Sendable, CaseIterable {
    /// There is no call.
    case idle
    /// It rings: one of the users has not answered yet.
    case alerting
    /// Everybody wants the call, and it has no media yet.
    case settingUp = "setting-up"
    /// Media may flow. A call stays there until somebody ends it.
    case connected
    /// Media was lost, and the app tries to have it back.
    case recovering
    /// The call has ended.
    case over

    /// Whether a call may stay in such a state for good.
    public var isSettled: Bool {
      switch self {
      case .idle, .connected, .over: true
      case .alerting, .settingUp, .recovering: false
      }
    }
  }

  public struct State: Sendable {
    public let name: String
    public let summary: String
    /// Nil in machines that are not the profile's main one.
    public let role: Role?

    public init(_ name: String, _ summary: String, as role: Role? = nil) {
      self.name = name
      self.summary = summary
      self.role = role
    }
  }

  public struct Transition: Hashable, Sendable {
    public let from: String
    public let to: String
    /// What brings it about, in the profile's words.
    public let event: String

    public init(_ from: String, _ to: String, on event: String) {
      self.from = from
      self.to = to
      self.event = event
    }
  }

  public let name: String
  /// The first is the initial state.
  public let states: [State]
  public let transitions: [Transition]

  public init(_ name: String, states: [State], transitions: [Transition]) {
    self.name = name
    self.states = states
    self.transitions = transitions
  }

  public func allows(from: String, to: String) -> Bool {
    transitions.contains { $0.from == from && $0.to == to }
  }

  public func role(of state: String) -> Role? { states.first { $0.name == state }?.role }

  /// The states that transitions lead to from the first one, the first included.
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
