import DTLS
import Formats

extension PEMFile {
  /// Chains and bundles of authorities are far smaller.
  private static let limit = 4 << 20

  /// What stands at a path; a pipe is waited for, though not for ever.
  static func of(_ path: String) throws(FileError) -> PEMFile {
    PEMFile(path: path, bytes: try FileBytes.read(path, atMost: limit))
  }
}
