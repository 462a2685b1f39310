internal import Glibc

/// A file that is written from front to back through the C library's buffer.
package final class FileSink {
  private let path: String
  private var file: UnsafeMutablePointer<FILE>?
  package private(set) var byteCount = 0
  private var hasFailed = false

  /// - Parameter keepsEveryLine: whether each line is on disk at once, so that a crash does not take the last ones.
  package init(path: String, keepsEveryLine: Bool = false) throws(FileError) {
    self.path = path
    file = fopen(path, "wb")
    guard file != nil else { throw FileError(path: path, reason: String(cString: strerror(errno))) }
    if keepsEveryLine { setvbuf(file, nil, _IOLBF, 65_536) }
  }

  deinit { if let file { fclose(file) } }

  package func write(_ text: String) {
    var text = text
    text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
  }

  package func write(_ bytes: RawSpan) { bytes.withUnsafeBytes { write($0) } }

  package func write(_ bytes: UnsafeRawBufferPointer) {
    guard let file, !bytes.isEmpty else { return }
    if fwrite(bytes.baseAddress, 1, bytes.count, file) != bytes.count { hasFailed = true }
    byteCount += bytes.count
  }

  /// Writes over what stands at `offset`; for headers that carry a length.
  package func patch(_ bytes: [UInt8], at offset: Int) {
    guard let file else { return }
    fseek(file, offset, SEEK_SET)
    if fwrite(bytes, 1, bytes.count, file) != bytes.count { hasFailed = true }
    fseek(file, 0, SEEK_END)
  }

  package func close() throws(FileError) {
    guard let file else { return }
    self.file = nil
    if fclose(file) != 0 || hasFailed { throw FileError(path: path, reason: "not everything could be written") }
  }
}

/// A file or folder that could not be read or written.
public struct FileError: Error, Sendable, CustomStringConvertible {
  public let path: String
  public let reason: String

  public init(path: String, reason: String) {
    self.path = path
    self.reason = reason
  }

  public var description: String { "\(path): \(reason)" }
}
