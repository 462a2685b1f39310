internal import LibC

/// A file that is written from front to back through the C library's buffer. A device or a pipe is written to in place,
/// and symbolic links are followed.
package final class FileSink {
  package enum Mode: Sendable {
    case anew
    /// After the existing content of the file.
    case append
    /// Anew, with ``FileSink/patch(_:at:)`` at the end, which is impossible for a pipe.
    case patched
  }

  private let path: String
  private let file: UnsafeMutablePointer<FILE>
  private var isOpen = true
  package private(set) var byteCount = 0
  /// The first `errno` of a failed write.
  private var failure: Int32?

  /// Opens the file.
  ///
  /// - Parameter keepsEveryLine: Whether each line is written at once, so that a crash does not lose the last ones.
  package init(path: String, mode: Mode = .anew, keepsEveryLine: Bool = false) throws(FileError) {
    self.path = path
    // Opening a pipe would wait without limit for its reader; with O_NONBLOCK it fails with ENXIO instead (fifo(7)).
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | (mode == .append ? O_APPEND : O_TRUNC)
    let descriptor = open(path, flags, 0o666)
    guard descriptor >= 0, let file = fdopen(descriptor, mode == .append ? "ab" : "wb") else {
      let code = errno
      throw FileError(path: path, reason: Self.text(code), code: code)
    }
    self.file = file
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    if keepsEveryLine { setvbuf(file, nil, _IOLBF, 65_536) }
    if mode == .patched, lseek(descriptor, 0, SEEK_CUR) < 0 {
      isOpen = false
      fclose(file)
      throw Self.pipe(path)
    }
  }

  /// Checks for the errors of opening the file. It keeps the file's content, and creates no file.
  package static func check(path: String, mode: Mode = .anew) throws(FileError) {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw FileError(path: path, reason: text(errno)) }
      guard access(folder(of: path), W_OK | X_OK) == 0 else { throw FileError(path: path, reason: text(errno)) }
      return
    }
    defer { Glibc.close(descriptor) }
    if mode == .patched, lseek(descriptor, 0, SEEK_CUR) < 0 { throw pipe(path) }
  }

  /// Returns the folder that contains, or would contain, a file.
  package static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func pipe(_ path: String) -> FileError {
    FileError(path: path, reason: "is a pipe; wanted is a file, whose beginning is written last")
  }

  deinit { if isOpen { fclose(file) } }

  package func write(_ text: String) {
    var text = text
    text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
  }

  package func write(_ bytes: RawSpan) { bytes.withUnsafeBytes { write($0) } }

  package func write(_ bytes: UnsafeRawBufferPointer) {
    guard isOpen, !bytes.isEmpty else { return }
    note(fwrite(bytes.baseAddress, 1, bytes.count, file) == bytes.count)
    byteCount += bytes.count
  }

  /// Overwrites bytes at `offset`, for headers that contain a length.
  package func patch(_ bytes: [UInt8], at offset: Int) {
    guard isOpen else { return }
    // fseek flushes the buffer.
    note(fseek(file, offset, SEEK_SET) == 0)
    note(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    note(fseek(file, 0, SEEK_END) == 0)
  }

  package func close() throws(FileError) {
    guard isOpen else { return }
    isOpen = false
    note(fclose(file) == 0)
    if let failure {
      throw FileError(path: path, reason: "not everything could be written: \(Self.text(failure))", code: failure)
    }
  }

  private func note(_ isDone: Bool) {
    if !isDone, failure == nil { failure = errno }
  }

  private static func text(_ number: Int32) -> String {
    number == ENXIO ? "nobody reads from it; start the reader of a pipe first" : String(cString: strerror(number))
  }
}

/// A file or folder that could not be read or written.
public struct FileError: Error, Sendable, CustomStringConvertible {
  /// The path of the file or folder.
  public let path: String
  /// The reason, as a clause.
  public let reason: String
  /// A sentence about a remedy, if one is known.
  public let remedy: String?
  /// The `errno`, where the system gave one.
  public let code: Int32?

  /// Makes an error about a path.
  public init(path: String, reason: String, remedy: String? = nil, code: Int32? = nil) {
    self.path = path
    self.reason = reason
    self.remedy = remedy
    self.code = code
  }

  /// Whether the disk is full or a quota is used up.
  public var isWantOfSpace: Bool { code == ENOSPC || code == EDQUOT }

  public var description: String { "\(path): \(reason)" + (remedy.map { ". \($0)" } ?? "") }
}
