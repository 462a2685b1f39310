import CallCore

@testable import LivePeer

extension SocketLoop {
  /// Turns until a condition holds, for a minute at most.
  func turn(until condition: () -> Bool) -> Bool {
    let limit = makeTimer {}
    limit.deadline = now + .seconds(60)
    defer { remove(limit) }
    while !condition() {
      guard limit.deadline != nil else { return false }
      turn()
    }
    return true
  }
}
