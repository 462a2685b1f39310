import DTLS
import Formats

extension PEMFile {
  /// The size limit in bytes; chains and bundles of authorities are far smaller.
  private static let limit = 4 << 20

  /// Reads the PEM file at a path; waits for a pipe, until a timeout.
  static func of(_ path: String) throws(FileError) -> PEMFile {
    PEMFile(path: path, bytes: try FileBytes.read(path, atMost: limit))
  }
}
