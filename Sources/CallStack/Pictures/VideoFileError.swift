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
    /// There are more frames than the limit.
    case tooLong(limit: Int)
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

extension VideoFileError: CustomStringConvertible {
  /// The defect as a clause about the file.
  package var description: String {
    switch reason {
    case .wrongSignature where offset == 0: "is neither a Y4M nor an IVF file"
    case .wrongSignature: "is malformed: no frame begins at byte \(offset)"
    case .truncated(let missing): "ends inside a frame or header at byte \(offset): \(missing) bytes are missing"
    case .headerTooLong: "is malformed: the header line at byte \(offset) has no end"
    case .missing(let what): "has no \(what) (byte \(offset))"
    case .invalid(let what): "is malformed: \(what) at byte \(offset)"
    case .unsupported(let what): "has \(what) at byte \(offset), which is not supported"
    case .wrongFrameCount(let promised, let found): "promises \(promised) frames at byte \(offset), and has \(found)"
    case .tooLong(let limit): "has too many pictures: at its size \(limit) can be played"
    case .wrongFrameSize: "is malformed: the frame at byte \(offset) has another size than the file"
    }
  }
}
