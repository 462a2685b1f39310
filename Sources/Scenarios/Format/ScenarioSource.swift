/// What one scenario is made of, as it was read: the file itself, then the files that it uses and the recordings that are
/// played.
///
/// Whoever runs the scenario runs this. What happens to the files on disk meanwhile changes nothing.
public struct ScenarioSource: Sendable, Equatable {
  public struct File: Sendable, Equatable {
    public enum Contents: Sendable, Equatable {
      case text(String)
      case recording([UInt8])
    }

    public let path: String
    public let contents: Contents

    public init(path: String, text: String) {
      self.path = path
      contents = .text(text)
    }

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

    /// Whether these bytes are the file, when they are read.
    package func isRead(from bytes: [UInt8]) -> Bool {
      let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
      guard case .text = contents, bytes.starts(with: mark) else { return bytes == self.bytes }
      return bytes.dropFirst(mark.count).elementsEqual(self.bytes)
    }
  }

  public let files: [File]
  /// FNV-1a over every path and what is there.
  public let hash: UInt64

  public init(_ files: [File]) {
    self.files = files
    var digest = FNV1a()
    for file in files {
      // Text holds neither 0xFE nor 0xFF, so that no two lists of files are the same sequence of bytes.
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

  public init(_ sources: SourceMap) {
    self.init(
      sources.files.map { File(path: $0.path, text: $0.text) }
        + sources.recordings.map { File(path: $0.path, recording: $0.bytes) })
  }

  /// The scenario file.
  public var path: String { files.first?.path ?? "" }

  /// The bytes of a file by its path, or nil when the scenario has none of that path.
  public func bytes(at path: String) -> [UInt8]? { files.first { $0.path == path }?.bytes }
}

/// The FNV-1a hash, 64 bits.
package struct FNV1a {
  package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  package init() {}

  package mutating func mix(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }
}
