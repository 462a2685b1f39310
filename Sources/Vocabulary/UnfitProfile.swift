/// The errors of a profile that contradicts itself, and so cannot run.
public struct UnfitProfile: Error, Hashable, CustomStringConvertible {
  /// The profile's name.
  public let profile: String
  /// The errors in the order of the declaration.
  public let misfits: [Misfit]

  /// Creates an error.
  public init(_ profile: String, _ misfits: [Misfit]) {
    self.profile = profile
    self.misfits = misfits
  }

  public var description: String { misfits.map { "profile \(profile), \($0)" }.joined(separator: "\n") }
}

/// An error in a declaration, its location, and its remedy.
public struct Misfit: Hashable, Sendable, CustomStringConvertible {
  /// The location of an error in a declaration.
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
    case event(String)
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
      case .event(let name): "event \(name)"
      case .setting(let name): "setting \(name)"
      case .server(let name): "server \(name)"
      case .connection(let name): "connection \(name)"
      }
    }
  }

  /// The location of the error.
  public let place: Place
  /// The error, in words.
  public let problem: String
  /// The remedy, in words.
  public let remedy: String

  /// Creates a misfit.
  public init(_ place: Place, _ problem: String, remedy: String) {
    self.place = place
    self.problem = problem
    self.remedy = remedy
  }

  public var description: String { "\(place): \(problem); \(remedy)" }
}
