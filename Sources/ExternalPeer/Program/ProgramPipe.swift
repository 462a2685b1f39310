internal import CLinux
internal import ExternalRecords
internal import Glibc

/// A pipe that children do not inherit by accident, closed with this object.
final class ProgramPipe {
  private(set) var readEnd: Int32
  private(set) var writeEnd: Int32

  init() throws(ExternalError) {
    var ends: [Int32] = [-1, -1]
    // At once: another thread may start a child at any time, and whoever has the write end keeps the pipe from its end.
    guard pipe2(&ends, O_CLOEXEC) == 0 else {
      throw ExternalError(.harness, "no pipe: \(ExternalError.text(ofCode: errno))")
    }
    (readEnd, writeEnd) = (ends[0], ends[1])
  }

  deinit {
    closeReadEnd()
    closeWriteEnd()
  }

  func closeReadEnd() {
    if readEnd >= 0 { close(readEnd) }
    readEnd = -1
  }

  func closeWriteEnd() {
    if writeEnd >= 0 { close(writeEnd) }
    writeEnd = -1
  }

  /// Makes an end return at once when there is nothing to read or no room to write.
  static func makeNonBlocking(_ end: Int32) { _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK) }

  /// Writes what fits.
  ///
  /// - Returns: how much that was, or nil when nobody reads any more.
  @discardableResult
  func write(_ bytes: [UInt8]) -> Int? {
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(writeEnd, $0.baseAddress! + offset, $0.count - offset) }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { break }
      guard count > 0 else { return nil }
      offset += count
    }
    return offset
  }

  /// What can be read now; nil when there is nothing yet, empty at the end.
  func read() -> [UInt8]? {
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, initialized in
      repeat { count = Glibc.read(readEnd, buffer.baseAddress, buffer.count) } while count < 0 && errno == EINTR
      initialized = max(0, count)
    }
    return count < 0 && errno == EAGAIN ? nil : bytes
  }

  func readAll() -> [UInt8] {
    var all: [UInt8] = []
    while let bytes = read(), !bytes.isEmpty { all += bytes }
    return all
  }
}
