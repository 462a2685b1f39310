package import Formats
package import PeerSession

/// A file of the pictures that were shown: a line for each, with the time in milliseconds, the width, the height and the
/// number in the picture, or `-` if it has none that can be read.
package final class PictureLog {
  private let file: FileSink

  package init(path: String) throws(FileError) { file = try FileSink(path: path, keepsEveryLine: true) }

  /// - Parameter milliseconds: the time on the program's monotonic clock.
  package func append(_ frame: RenderedVideoFrame, milliseconds: Double) {
    let number = frame.contentID.map { "\($0)" } ?? "-"
    file.write("\((milliseconds * 10).rounded() / 10) \(frame.width) \(frame.height) \(number)\n")
  }

  package func close() throws(FileError) { try file.close() }
}
