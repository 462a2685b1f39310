/// A defect of a video file, at the offset of the byte that shows it.
package struct VideoFileError: Error, Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    /// The file does not begin with its signature.
    case wrongSignature
    /// The file ends inside a header or a frame of which so many bytes are missing.
    case truncated(missing: Int)
    /// A header line is longer than the limit, or has no end.
    case headerTooLong
    /// A parameter is missing.
    case missing(String)
    /// A parameter has a value that the format does not allow.
    case invalid(String)
    /// A parameter has a value that this reader does not support.
    case unsupported(String)
    /// The header promises another number of frames than there are.
    case wrongFrameCount(promised: Int, found: Int)
    /// The bytes of a frame do not have the size of the file.
    case wrongFrameSize
  }

  package let offset: Int
  package let reason: Reason

  package init(offset: Int, reason: Reason) {
    self.offset = offset
    self.reason = reason
  }
}
