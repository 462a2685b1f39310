internal import CallCore

/// The source of one scenario: the scenario file, the files that it uses and the recordings that it plays.
///
/// Runs read this copy, so that later changes of the files on disk have no effect.
public struct ScenarioSource: Sendable, Equatable {
  /// One file of the source.
  public struct File: Sendable, Equatable {
    /// The contents of a file.
    public enum Contents: Sendable, Equatable {
      case text(String)
      case recording([UInt8])
    }

    /// The path under which the file was read.
    public let path: String
    /// The contents of the file.
    public let contents: Contents

    /// Creates a text file.
    public init(path: String, text: String) {
      self.path = path
      contents = .text(text)
    }

    /// Creates a recording.
    public init(path: String, recording: [UInt8]) {
      self.path = path
      contents = .recording(recording)
    }

    var bytes: [UInt8] {
      switch contents {
      case .text(let text): Array(text.utf8)
      case .recording(let bytes): bytes
      }
    }

    /// Returns whether reading these bytes yields this file; a byte order mark in front of text is ignored.
    package func isRead(from bytes: [UInt8]) -> Bool {
      let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
      guard case .text = contents, bytes.starts(with: mark) else { return bytes == self.bytes }
      return bytes.dropFirst(mark.count).elementsEqual(self.bytes)
    }
  }

  /// The files; the scenario file is the first.
  public let files: [File]
  /// The FNV-1a hash of all paths and contents.
  public let hash: UInt64

  /// Creates a source and computes its hash.
  public init(_ files: [File]) {
    self.files = files
    var digest = FNV1a()
    for file in files {
      // UTF-8 contains neither 0xFE nor 0xFF, so that different lists of files yield different sequences of bytes.
      digest.mix(file.path.utf8)
      digest.mix(CollectionOfOne(0xFF))
      switch file.contents {
      case .text(let text):
        digest.mix(text.utf8)
        digest.mix(CollectionOfOne(0xFF))
      case .recording(let bytes):
        digest.mix(CollectionOfOne(0xFE))
        withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { digest.mix($0) }
        digest.mix(bytes)
      }
    }
    hash = digest.value
  }

  /// Creates a source from the files that a reader has loaded.
  public init(_ sources: SourceMap) {
    self.init(
      sources.files.map { File(path: $0.path, text: $0.text) }
        + sources.recordings.map { File(path: $0.path, recording: $0.bytes) })
  }

  /// The FNV-1a hash of all contents: the same wherever the files are.
  package var contentHash: UInt64 {
    var digest = FNV1a()
    for file in files {
      let bytes = file.bytes
      withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { digest.mix($0) }
      digest.mix(bytes)
    }
    return digest.value
  }

  /// The path of the scenario file.
  public var path: String { files.first?.path ?? "" }

  /// Returns the bytes of a file; nil when the source has no file of this path.
  public func bytes(at path: String) -> [UInt8]? { files.first { $0.path == path }?.bytes }
}
