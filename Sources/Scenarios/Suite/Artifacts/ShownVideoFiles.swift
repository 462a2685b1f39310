internal import CallCore
internal import Codecs
internal import Formats
internal import PeerSession
internal import Pictures

/// The videos that peers show in a run, in IVF files in the run's folder: the frames as they were received, each at the
/// time of the run, in milliseconds, at which it was shown. A player stands still where the peer's screen did.
final class ShownVideoFiles {
  /// What goes into one file, which has one codec.
  private struct Key: Hashable {
    let connection: String
    let ssrc: UInt32
    let codec: VideoCodec
  }

  private struct File {
    var writer: IVFWriter
    let sink: FileSink

    /// Writes a frame; one that is too large for the format is left out.
    mutating func write(_ frame: IVFFile.Frame) {
      guard (try? writer.append(frame)) != nil else { return }
      let bytes = writer.take()
      sink.write(bytes.span.bytes)
    }
  }

  private static let timeBase = FrameRate(1_000, per: 1)
  private let folder: String
  private var files: [Key: File] = [:]
  private var names: Set<String> = []

  init(folder: String) { self.folder = folder }

  /// Adds a picture to the file of its source, which begins with the first.
  func append(_ frame: RenderedVideoFrame, over connection: String) throws(FileError) {
    let key = Key(connection: connection, ssrc: frame.ssrc, codec: frame.coded.codec)
    if files[key] == nil { files[key] = try file(for: key, frame) }
    let time = UInt64(max(0, (frame.rendered - Instant.zero).milliseconds))
    for bytes in frame.coded.frames { files[key]?.write(IVFFile.Frame(time: time, bytes: bytes)) }
  }

  /// Completes the files.
  func close() throws(FileError) {
    for file in files.values {
      file.sink.patch(file.writer.count, at: IVFWriter.countOffset)
      try file.sink.close()
    }
  }

  private func file(for key: Key, _ frame: RenderedVideoFrame) throws(FileError) -> File? {
    guard let size = PictureSize(frame.width, frame.height), let timeBase = Self.timeBase, let codec = key.codec.fourCC,
      let writer = IVFWriter(codec: codec, size: size, timeBase: timeBase)
    else { return nil }
    let sink = try FileSink(path: "\(folder)/\(name(for: key.connection)).ivf", mode: .patched)
    sink.write(writer.beginning.span.bytes)
    return File(writer: writer, sink: sink)
  }

  /// Returns `alice-video` for the only connection of a peer, `alice-to-bob-video` for one of several, and for further videos
  /// of the same connection `alice-video-2`.
  private func name(for connection: String) -> String {
    let first = connection.split(separator: "/").joined(separator: "-") + "-video"
    var (name, number) = (first, 1)
    while !names.insert(name).inserted {
      number += 1
      name = "\(first)-\(number)"
    }
    return name
  }
}
