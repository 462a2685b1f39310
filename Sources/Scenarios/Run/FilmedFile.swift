internal import CallCore
internal import Codecs
internal import Pictures
internal import ScenarioFormat

/// The pictures of a file that a camera films, decoded.
enum FilmedFile {
  /// Decodes all pictures. A frame that is never shown gives none.
  ///
  /// - Parameter name: The name of the file in errors.
  static func video(_ file: VideoFile, atEnd end: RecordedVideo.End, name: String) throws(HarnessError) -> RecordedVideo
  {
    let pictures: [VideoFrame]
    switch file.content {
    case .raw(let raw): pictures = (0..<raw.frameCount).compactMap(raw.frame)
    case .coded(let coded): pictures = try decoded(coded, name)
    }
    guard let video = RecordedVideo(pictures, end: end) else {
      throw HarnessError("\(name) cannot be filmed: the times of its pictures are out of order")
    }
    return video
  }

  private static func decoded(_ file: IVFFile, _ name: String) throws(HarnessError) -> [VideoFrame] {
    guard let codec = VideoCodec(fourCC: file.codec) else {
      throw HarnessError("\(name) cannot be filmed: its codec is \(file.codec)")
    }
    var pictures: [VideoFrame] = []
    var (number, size) = (0, 0)
    do throws(VideoCodecError) {
      let decoder = try VideoDecoder(codec)
      // A header may say less than the pictures have.
      for frame in file.frames where size <= VideoFile.maximumDecodedSize {
        let time = file.timeBase.time(ofFrame: frame.time)
        if let picture = try decoder.decode(frame.bytes.span.bytes, at: time)?.picture {
          pictures.append(picture)
          size += picture.size.byteCount
        }
        number += 1
      }
    } catch {
      throw HarnessError(
        "\(name) cannot be filmed: its frame \(number) cannot be decoded: \(error); this makes one that can: "
          + VideoFile.command(from: name, seconds: 10))
    }
    guard size <= VideoFile.maximumDecodedSize else {
      throw HarnessError("\(name) cannot be filmed: its pictures are larger than 64 MiB, decoded")
    }
    return pictures
  }
}
