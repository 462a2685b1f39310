internal import Glibc

/// Lines from a descriptor, as they come.
final class LineReader {
  private let descriptor: Int32
  private unowned let loop: SocketLoop
  private let keepsEmptyLines: Bool
  private let line: (String) -> Void
  private let end: () -> Void
  private var pending: [UInt8] = []
  private var isStopped = false
  private var chunk = [UInt8](repeating: 0, count: 65_536)

  /// A description with every candidate of a multi-homed machine is a long line; longer than this is nobody's.
  private static let longestLine = 16 << 20

  /// - Parameters:
  ///   - line: gets each line, without its end.
  ///   - end: called once, when there will be no more.
  init(
    _ descriptor: Int32, loop: SocketLoop, keepsEmptyLines: Bool = false, line: @escaping (String) -> Void,
    end: @escaping () -> Void
  ) {
    self.descriptor = descriptor
    self.loop = loop
    self.keepsEmptyLines = keepsEmptyLines
    self.line = line
    self.end = end
    loop.watch(descriptor, for: Int16(POLLIN)) { [unowned self] _ in read() }
  }

  private func read() {
    let count = Glibc.read(descriptor, &chunk, chunk.count)
    guard count > 0 else {
      if count < 0, errno == EINTR || errno == EAGAIN { return }
      finish()
      return
    }
    var rest = chunk[..<count]
    while !isStopped, let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
      pending += rest[..<newline]
      let text = String(decoding: pending, as: UTF8.self)
      pending.removeAll(keepingCapacity: true)
      rest = rest[(newline + 1)...]
      if keepsEmptyLines || !text.allSatisfy(\.isWhitespace) { line(text) }
    }
    guard !isStopped else { return }
    pending += rest
    if pending.count > Self.longestLine { finish() }
  }

  /// Reads no more; nothing is called any more.
  func stop() {
    guard !isStopped else { return }
    isStopped = true
    loop.unwatch(descriptor)
  }

  private func finish() {
    guard !isStopped else { return }
    stop()
    if !pending.isEmpty { line(String(decoding: pending, as: UTF8.self)) }
    end()
  }
}
