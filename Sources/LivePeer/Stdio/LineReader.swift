internal import LibC

/// Reads lines from a descriptor as they arrive.
final class LineReader {
  /// The reason for the end of lines.
  enum End {
    case endOfInput
    /// A line is longer than ``LineReader/longestLine``; its beginning is dropped.
    case lineTooLong
  }

  private let descriptor: Int32
  private unowned let loop: SocketLoop
  private let keepsEmptyLines: Bool
  private let line: ([UInt8]) -> Void
  private let end: (End) -> Void
  private var pending: [UInt8] = []
  private var isStopped = false
  private var chunk = [UInt8](repeating: 0, count: 65_536)

  /// The limit of a line in bytes, above that of a description with every candidate of a multi-homed machine.
  static let longestLine = 16 << 20

  /// - Parameters:
  ///   - line: gets each line, without its line end.
  ///   - end: called once, after the last line.
  convenience init(
    _ descriptor: Int32, loop: SocketLoop, keepsEmptyLines: Bool = false, line: @escaping (String) -> Void,
    end: @escaping (End) -> Void
  ) {
    self.init(
      descriptor, loop: loop, keepsEmptyLines: keepsEmptyLines,
      bytes: { line(String(decoding: $0, as: UTF8.self)) }, end: end)
  }

  /// Passes lines as bytes, so that invalid UTF-8 is not replaced as in a string.
  init(
    _ descriptor: Int32, loop: SocketLoop, keepsEmptyLines: Bool = false, bytes line: @escaping ([UInt8]) -> Void,
    end: @escaping (End) -> Void
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
      let whole = pending
      pending.removeAll(keepingCapacity: true)
      rest = rest[(newline + 1)...]
      if keepsEmptyLines || !whole.allSatisfy(Self.isSpace) { line(whole) }
    }
    guard !isStopped else { return }
    pending += rest
    guard pending.count > Self.longestLine else { return }
    stop()
    end(.lineTooLong)
  }

  /// Stops reading; no handler is called after this.
  func stop() {
    guard !isStopped else { return }
    isStopped = true
    loop.unwatch(descriptor)
  }

  private func finish() {
    guard !isStopped else { return }
    loop.unwatch(descriptor)
    if !pending.isEmpty { line(pending) }
    // The handler of the last line may have stopped this reader.
    guard !isStopped else { return }
    isStopped = true
    end(.endOfInput)
  }

  /// Returns whether a byte is a space, or one of tab to carriage return.
  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
