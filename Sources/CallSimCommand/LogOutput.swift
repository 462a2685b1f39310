import Foundation
import ScenarioFormat

/// Writes lines to standard output without waiting for their reader.
///
/// A separate thread writes. If the reader is too slow, lines are dropped, and a later line reports their number.
final class LogOutput: @unchecked Sendable {
  private let condition = NSCondition()
  // Accessed only while holding the condition's lock.
  private var pending: [UInt8] = []
  private var dropped = 0
  private var isWriting = false
  private var failure: String?

  private static let capacity = 65_536

  init() {
    let thread = Thread { [self] in write() }
    thread.start()
  }

  /// Adds a line and escapes control characters, because remote users choose the names in it.
  func line(_ text: String) {
    condition.lock()
    defer { condition.unlock() }
    let bytes = Array((TextStyle.printable(text) + "\n").utf8)
    guard failure == nil else { return }
    guard pending.count + bytes.count <= Self.capacity else {
      dropped += 1
      return
    }
    pending += bytes
    condition.signal()
  }

  /// Waits for pending lines to be written, until a timeout.
  ///
  /// - Returns: The reason for a failure; nil if all lines were written.
  func finish(within timeout: TimeInterval = 0.5) -> String? {
    let deadline = Date(timeIntervalSinceNow: timeout)
    condition.lock()
    defer { condition.unlock() }
    while failure == nil, isWriting || !pending.isEmpty || dropped > 0 {
      condition.signal()
      guard condition.wait(until: deadline) else { return "it was not read in time" }
    }
    return failure
  }

  private func write() {
    while true {
      condition.lock()
      isWriting = false
      condition.broadcast()
      while pending.isEmpty, dropped == 0 { condition.wait() }
      var bytes = pending
      pending.removeAll(keepingCapacity: true)
      if dropped > 0 {
        bytes += "\(dropped) lines were not read in time and are left out\n".utf8
        dropped = 0
      }
      isWriting = true
      condition.unlock()
      guard !Self.write(bytes) else { continue }
      let reason = String(cString: strerror(errno))
      condition.lock()
      failure = reason
      pending.removeAll()
      dropped = 0
      isWriting = false
      condition.broadcast()
      condition.unlock()
      return
    }
  }

  private static func write(_ bytes: [UInt8]) -> Bool {
    var offset = 0
    while offset < bytes.count {
      let count = bytes[offset...].withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      offset += count
    }
    return true
  }
}
