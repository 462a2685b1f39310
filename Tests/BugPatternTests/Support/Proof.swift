import CallCore
import Testing

/// What a provocation found: the claims that did not hold.
final class Claims {
  private(set) var broken: [String] = []

  /// Claims something of the stack under provocation.
  func callAsFunction(_ claim: String, _ holds: Bool) {
    if !holds { broken.append(claim) }
  }
}

/// Provokes a bug pattern twice: in the stack as it is, where every claim must hold, and with the defect planted, where
/// one must not. The second run is what makes the first one worth something.
func proves(
  _ defect: Defect, sourceLocation: SourceLocation = #_sourceLocation, provocation: (Claims) throws -> Void
) throws {
  let sound = Claims()
  try provocation(sound)
  for claim in sound.broken { Issue.record("does not hold: \(claim)", sourceLocation: sourceLocation) }

  let defective = Claims()
  Defect.$planted.withValue(defect) {
    do {
      try provocation(defective)
    } catch {
      // A refusal is a way of finding it.
      defective("nothing is refused: \(error)", false)
    }
  }
  #expect(!defective.broken.isEmpty, "\(defect) is planted and nothing finds it", sourceLocation: sourceLocation)
}
