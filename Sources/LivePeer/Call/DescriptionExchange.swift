internal import CallCore
package import CallSession
package import Formats
internal import Glibc

/// Descriptions by files, or pasted through standard input and output.
package final class DescriptionExchange {
  /// Where the local description goes; nil for standard output.
  private let localPath: String?
  /// Where the remote description comes from; nil for standard input.
  private let remotePath: String?
  private let asJSON: Bool
  private let loop: SocketLoop
  private let output: (String) -> Void
  private var reader: LineReader?
  private var timer = LoopTimer {}
  private var pasted = ""
  private var lastSize: Int?
  private let startedAt: Int

  private static let checkPeriod = Interval.milliseconds(100)

  /// - Parameters:
  ///   - asJSON: whether a description on standard output is one line of JSON, or plain SDP.
  ///   - output: standard output.
  package init(
    localPath: String?, remotePath: String?, asJSON: Bool, loop: SocketLoop, output: @escaping (String) -> Void
  ) {
    self.localPath = localPath
    self.remotePath = remotePath
    self.asJSON = asJSON
    self.loop = loop
    self.output = output
    startedAt = time(nil)
  }

  deinit { loop.remove(timer) }

  // MARK: Out

  package func send(_ description: SessionDescriptionText) throws(FileError) {
    guard let localPath else {
      let json: JSON = ["type": .string(description.kind.rawValue), "sdp": .string(description.sdp)]
      // The empty line is what ends a description that is pasted elsewhere.
      return output(asJSON ? json.description + "\n" : description.sdp + "\n")
    }
    // Whoever waits for the file is never to see half of it.
    let draft = localPath + ".part"
    let file = try FileSink(path: draft)
    file.write(description.sdp)
    try file.close()
    guard rename(draft, localPath) == 0 else {
      throw FileError(path: localPath, reason: String(cString: strerror(errno)))
    }
  }

  // MARK: In

  /// Waits for the remote description, and hands its SDP to `take`.
  ///
  /// - Parameter isAnswer: whether it can only be of now: a file from before this call is not it.
  package func awaitRemote(
    isAnswer: Bool, _ take: @escaping (String) -> Void, onFailure: @escaping (FileError) -> Void
  ) {
    if let remotePath {
      timer = loop.makeTimer { [unowned self] in check(remotePath, isAnswer: isAnswer, take, onFailure) }
      timer.deadline = loop.now
    } else {
      reader = LineReader(
        STDIN_FILENO, loop: loop, keepsEmptyLines: true,
        line: { [unowned self] in paste($0, take) }, end: { [unowned self] in finishPaste(take, onFailure) })
    }
  }

  /// A file counts once it has not grown for one period.
  private func check(
    _ path: String, isAnswer: Bool, _ take: (String) -> Void, _ onFailure: (FileError) -> Void
  ) {
    timer.deadline = loop.now + Self.checkPeriod
    var status = stat()
    guard stat(path, &status) == 0, status.st_size > 0, !isAnswer || status.st_mtim.tv_sec >= startedAt else { return }
    guard lastSize == Int(status.st_size) else {
      lastSize = Int(status.st_size)
      return
    }
    timer.deadline = nil
    do throws(FileError) {
      take(Self.sdp(in: String(decoding: try FileBytes.read(path), as: UTF8.self)))
    } catch {
      onFailure(error)
    }
  }

  /// An empty line ends a description, and JSON is one line.
  private func paste(_ line: String, _ take: (String) -> Void) {
    guard !line.allSatisfy(\.isWhitespace) || pasted.isEmpty else { return finishPaste(take) { _ in } }
    guard !line.allSatisfy(\.isWhitespace) else { return }
    pasted += line + "\n"
    if pasted.hasPrefix("{"), (try? JSON(parsing: pasted.utf8)) != nil { finishPaste(take) { _ in } }
  }

  private func finishPaste(_ take: (String) -> Void, _ onFailure: (FileError) -> Void) {
    let text = pasted
    pasted = ""
    reader?.stop()
    guard !text.isEmpty else {
      return onFailure(FileError(path: "standard input", reason: "ended without a description"))
    }
    take(Self.sdp(in: text))
  }

  /// Plain SDP, or the JSON that `JSON.stringify(pc.localDescription)` gives in a browser.
  private static func sdp(in text: String) -> String {
    guard text.hasPrefix("{"), let json = try? JSON(parsing: text.utf8), let sdp = json["sdp"]?.string else {
      return text
    }
    return sdp
  }
}
