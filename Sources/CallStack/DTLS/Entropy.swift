internal import COpenSSL
internal import CVirtualClock
public import CallCore

/// The source of keys, nonces and randoms.
public enum Entropy: ~Copyable {
  /// OpenSSL's own generator, for live calls.
  case system
  /// A stream of the run: equal streams give equal bytes on the wire.
  case stream(RandomStream)

  /// Takes a stream of a repeatable source; a source that cannot be repeated is replaced by OpenSSL's generator.
  public init(_ random: RandomSource, stream name: String) {
    self = random.isRepeatable ? .stream(random.stream(name)) : .system
  }
}

/// Runs OpenSSL on the calling thread with a given time and entropy source, and restores both afterwards.
///
/// libssl has no hook for its clock and one process-wide hook for its generator, so both are redirected per thread.
final class VirtualEnvironment {
  private let generator: Generator?

  init(_ entropy: consuming Entropy) {
    switch consume entropy {
    case .system:
      generator = nil
    case .stream(let stream):
      Generator.installOnce
      generator = Generator(stream)
    }
  }

  /// Runs OpenSSL calls.
  ///
  /// - Parameter now: the time for libssl's timers. Only differences count, so every machine uses one epoch.
  func run<Result>(at now: Instant, _ body: () -> Result) -> Result {
    callsim_virtual_clock_set(WallClock().unixNanoseconds(at: now))
    callsim_virtual_entropy_set(generator.map { Unmanaged.passUnretained($0).toOpaque() })
    defer {
      callsim_virtual_entropy_set(nil)
      callsim_virtual_clock_clear()
    }
    ERR_clear_error()
    return body()
  }
}

/// An adapter from a run's random stream to OpenSSL's generator interface.
private final class Generator {
  private var stream: RandomStream

  init(_ stream: consuming RandomStream) { self.stream = stream }

  func fill(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
    var index = 0
    while index < buffer.count {
      var word = stream.next()
      for _ in 0..<min(8, buffer.count - index) {
        buffer[index] = UInt8(truncatingIfNeeded: word)
        word >>= 8
        index += 1
      }
    }
  }

  /// Replaces OpenSSL's generator by ``fill(_:)`` on threads that are inside a virtual environment.
  ///
  /// A process that never uses a stream keeps OpenSSL's generator.
  static let installOnce: Void = { _ = RAND_set_rand_method(method) }()

  /// OpenSSL keeps the pointer for the life of the process.
  nonisolated(unsafe) private static let method: UnsafeMutablePointer<RAND_METHOD> = {
    let method = UnsafeMutablePointer<RAND_METHOD>.allocate(capacity: 1)
    method.initialize(to: RAND_METHOD())
    let draw: @convention(c) (UnsafeMutablePointer<UInt8>?, Int32) -> Int32 = { bytes, count in
      guard let source = callsim_virtual_entropy() else { return RAND_OpenSSL().pointee.bytes(bytes, count) }
      let buffer = UnsafeMutableBufferPointer(start: bytes, count: Int(max(0, count)))
      Unmanaged<Generator>.fromOpaque(source).takeUnretainedValue().fill(buffer)
      return 1
    }
    method.pointee.bytes = draw
    method.pointee.pseudorand = draw
    method.pointee.status = { 1 }
    return method
  }()
}
