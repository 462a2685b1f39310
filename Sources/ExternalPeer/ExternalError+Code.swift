internal import ExternalRecords
internal import Glibc

extension ExternalError {
  /// What a system call said, as `-errno`.
  static func text(ofCode code: Int32) -> String { String(cString: strerror(abs(code))) }
}
