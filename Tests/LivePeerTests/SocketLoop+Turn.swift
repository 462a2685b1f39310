import CallCore

@testable import LivePeer

extension SocketLoop {
  /// Turns until a condition holds, for ten seconds at most.
  func turn(until condition: () -> Bool) -> Bool {
    let limit = makeTimer {}
    limit.deadline = now + .seconds(10)
    defer { remove(limit) }
    while !condition() {
      guard limit.deadline != nil else { return false }
      turn()
    }
    return true
  }
}
