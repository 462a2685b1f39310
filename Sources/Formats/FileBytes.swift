internal import Glibc

/// Whole files.
package enum FileBytes {
  package static func read(_ path: String) throws(FileError) -> [UInt8] {
    guard let file = fopen(path, "rb") else { throw FileError(path: path, reason: String(cString: strerror(errno))) }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = fread(&chunk, 1, chunk.count, file)
      guard count > 0 else { break }
      bytes += chunk[..<count]
    }
    guard ferror(file) == 0 else { throw FileError(path: path, reason: "cannot be read") }
    return bytes
  }
}
