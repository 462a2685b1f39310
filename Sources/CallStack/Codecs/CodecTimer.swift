internal import Synchronization

/// Adds up the processor time that the encoders and decoders of this process take, while somebody asks for it.
///
/// The clock comes from whoever asks: nothing in a call depends on it.
package final class CodecTimer: Sendable {
  package static let shared = CodecTimer()

  package enum Direction: Sendable { case encoding, decoding }

  /// The processor time of all encoders and of all decoders, in nanoseconds.
  package struct Times: Sendable, Hashable {
    package var encoding: UInt64 = 0
    package var decoding: UInt64 = 0
  }

  private struct State {
    var clock: (@Sendable () -> UInt64)?
    var times = Times()
  }

  private let state = Mutex(State())
  private let isOn = Atomic(false)

  /// Whether time is measured. Then every encoder encodes: what another has encoded would take no time.
  package var isRunning: Bool { isOn.load(ordering: .relaxed) }

  /// Starts at zero.
  ///
  /// - Parameter clock: Returns the processor time of the process, in nanoseconds.
  package func start(_ clock: @escaping @Sendable () -> UInt64) {
    state.withLock { $0 = State(clock: clock) }
    isOn.store(true, ordering: .relaxed)
  }

  /// Ends, and returns the times since the start.
  package func stop() -> Times {
    isOn.store(false, ordering: .relaxed)
    return state.withLock { state in
      state.clock = nil
      return state.times
    }
  }

  /// Returns the time at which work begins; nil while nobody asks.
  func begin() -> UInt64? {
    isRunning ? state.withLock { $0.clock?() } : nil
  }

  func end(_ direction: Direction, since begin: UInt64?) {
    guard let begin else { return }
    state.withLock { state in
      guard let now = state.clock?(), now > begin else { return }
      switch direction {
      case .encoding: state.times.encoding += now - begin
      case .decoding: state.times.decoding += now - begin
      }
    }
  }
}
