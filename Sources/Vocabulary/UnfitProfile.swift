/// A profile that contradicts itself, and so cannot be run.
public struct UnfitProfile: Error, Hashable, CustomStringConvertible {
  public let profile: String
  public let misfits: [Misfit]

  public init(_ profile: String, _ misfits: [Misfit]) {
    self.profile = profile
    self.misfits = misfits
  }

  public var description: String { misfits.map { "profile \(profile), \($0)" }.joined(separator: "\n") }
}

/// What does not fit in a declaration, where it is declared, and what makes it fit.
public struct Misfit: Hashable, Sendable, CustomStringConvertible {
  public enum Place: Hashable, Sendable, CustomStringConvertible {
    case profile
    case machine(String)
    case state(String, of: String)
    case action(String)
    case message(String)
    case field(String, of: String)
    case endCode(String)
    case errorCode(String)
    case value(String)
    case setting(String)
    case server(String)
    case connection(String)

    public var description: String {
      switch self {
      case .profile: "declaration"
      case .machine(let name): "machine \(name)"
      case .state(let name, let machine): "machine \(machine), state \(name)"
      case .action(let name): "action \(name)"
      case .message(let name): "message \(name)"
      case .field(let name, let message): "message \(message), field \(name)"
      case .endCode(let name): "end code \(name)"
      case .errorCode(let name): "error code \(name)"
      case .value(let name): "value \(name)"
      case .setting(let name): "setting \(name)"
      case .server(let name): "server \(name)"
      case .connection(let name): "connection \(name)"
      }
    }
  }

  public let place: Place
  public let problem: String
  public let remedy: String

  public init(_ place: Place, _ problem: String, remedy: String) {
    self.place = place
    self.problem = problem
    self.remedy = remedy
  }

  public var description: String { "\(place): \(problem); \(remedy)" }
}
