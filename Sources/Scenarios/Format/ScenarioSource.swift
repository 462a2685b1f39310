/// The texts that one scenario is made of, as they were read: the file itself, then the files that it uses.
///
/// Whoever runs the scenario runs these texts. What happens to the files on disk meanwhile changes nothing.
public struct ScenarioSource: Sendable, Equatable {
  public struct File: Sendable, Equatable {
    public let path: String
    public let text: String

    public init(path: String, text: String) {
      self.path = path
      self.text = text
    }
  }

  public let files: [File]
  /// FNV-1a over every path and text.
  public let hash: UInt64

  public init(_ files: [File]) {
    self.files = files
    var digest = FNV1a()
    for file in files {
      for part in [file.path, file.text] {
        digest.mix(part.utf8)
        // Text cannot hold this byte, so that no two lists of texts are the same sequence of bytes.
        digest.mix(CollectionOfOne(0xFF))
      }
    }
    hash = digest.value
  }

  public init(_ sources: SourceMap) { self.init(sources.files.map { File(path: $0.path, text: $0.text) }) }

  /// The scenario file.
  public var path: String { files.first?.path ?? "" }

  /// The bytes of a file by its path, or nil when the scenario has none of that path.
  public func bytes(at path: String) -> [UInt8]? { files.first { $0.path == path }.map { Array($0.text.utf8) } }
}

/// The FNV-1a hash, 64 bits.
struct FNV1a {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func mix(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }
}
