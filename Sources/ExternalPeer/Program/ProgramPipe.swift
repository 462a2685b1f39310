internal import CLinux
internal import ExternalRecords
internal import Glibc

/// A pipe with close-on-exec ends, closed with this object.
final class ProgramPipe {
  private(set) var readEnd: Int32
  private(set) var writeEnd: Int32

  init() throws(ExternalError) {
    var ends: [Int32] = [-1, -1]
    // Atomic, since another thread may start a child at any time: a child with the write end prevents end of file.
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

  /// Makes an end of the pipe non-blocking.
  static func makeNonBlocking(_ end: Int32) { _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK) }

  /// Writes as many bytes as fit.
  ///
  /// - Returns: their number, or nil if the read end is closed.
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

  /// Returns the bytes that can be read now; nil if there are none yet, empty at end of file.
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
