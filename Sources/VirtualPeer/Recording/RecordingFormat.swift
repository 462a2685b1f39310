public import CallCore

/// The form of a recording of a call.
public struct RecordingFormat: Hashable, Sendable {
  /// The angle by which a player turns the pictures clockwise, in degrees.
  public enum Rotation: Int, Sendable, CaseIterable { case none = 0, right = 90, half = 180, left = 270 }

  /// The width of the pictures in pixels.
  public var width = 640
  /// The height of the pictures in pixels.
  public var height = 480
  /// The bit rate of the pictures.
  public var bitrate = DataRate(bitsPerSecond: 636_528)
  /// The most pictures in a second.
  public var frameRate = 30
  /// The rotation of the pictures.
  public var rotation = Rotation.none

  /// Makes the form of 640x480 pictures, 30 in a second, at 636,528 bit/s.
  public init() {}

  /// The reason for which the encoder takes no pictures of this form; nil if it does.
  public var problem: String? {
    let sides = 16...3_840
    guard [width, height].allSatisfy({ sides.contains($0) && $0.isMultiple(of: 2) }) else {
      return "the sides of a recording are even numbers from 16 to 3840"
    }
    guard (1...60).contains(frameRate) else { return "a recording has 1 to 60 pictures in a second" }
    guard (1_000...100_000_000).contains(bitrate.bitsPerSecond) else {
      return "the bit rate of a recording is 1 kbit/s to 100 Mbit/s"
    }
    return nil
  }
}

/// A file that was recorded.
public struct RecordedFile: Hashable, Sendable {
  /// The file's name, unique in a run.
  public let name: String
  /// The time from the start of the recording to its end.
  public let duration: Interval
  /// The number of pictures.
  public let frameCount: Int
  /// The length of the file in bytes.
  public let byteCount: Int
}

/// The recorded files of a device.
final class RecordingFiles {
  private let peer: String
  private let receiver: ((_ name: String, _ bytes: [UInt8]) -> Void)?
  private var count = 0

  /// - Parameter receiver: receives every file; nil where nobody keeps them.
  init(of peer: String, _ receiver: ((_ name: String, _ bytes: [UInt8]) -> Void)?) {
    self.peer = peer
    self.receiver = receiver
  }

  /// Stores a file and returns its name.
  func store(_ bytes: [UInt8]) -> String {
    count += 1
    let name = "\(peer)-recording-\(count).mp4"
    receiver?(name, bytes)
    return name
  }
}
