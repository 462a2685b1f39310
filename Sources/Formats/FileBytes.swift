internal import LibC

/// Reads whole files.
package enum FileBytes {
  /// The largest size in bytes, far above that of any audio file or pasted text.
  private static let limit = 1 << 30
  /// The timeout for reading from a pipe, in milliseconds.
  private static let timeout: Int32 = 10_000

  /// Reads a file or a pipe to its end. Devices are refused because they have no end.
  ///
  /// - Parameter most: The number of bytes after which reading stops, for callers that only check for an excess.
  package static func read(_ path: String, atMost most: Int = .max) throws(FileError) -> [UInt8] {
    // Without O_NONBLOCK, opening a pipe would wait without limit for its writer; poll below waits with a timeout.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw FileError(path: path, reason: String(cString: strerror(errno))) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, [S_IFREG, S_IFIFO].contains(status.st_mode & S_IFMT) else {
      throw FileError(path: path, reason: "is neither a file nor a pipe")
    }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&wanted, 1, timeout) != 0 else { throw FileError(path: path, reason: "no data came from this pipe") }
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count >= 0 else { throw FileError(path: path, reason: String(cString: strerror(errno))) }
      guard count > 0 else { return bytes }
      bytes += chunk[..<count]
      if bytes.count >= most { return Array(bytes.prefix(most)) }
      guard bytes.count <= limit else { throw FileError(path: path, reason: "is larger than 1 GiB") }
    }
  }
}
