internal import CallCore
package import Formats
internal import LibC
package import PeerSession

/// The exchange of descriptions by files, or by pasting through standard input and output.
package final class DescriptionExchange {
  /// The path for the local description; nil for standard output.
  private let localPath: String?
  /// The path of the remote description; nil for standard input.
  private let remotePath: String?
  private let asJSON: Bool
  private let loop: SocketLoop
  private let output: (String) throws(FileError) -> Void
  private let log: (String) -> Void
  private var reader: LineReader?
  private var timer = LoopTimer {}
  private var pasted = ""
  private var lastSize: Int?
  private var hasNotedOldAnswer = false
  private let startedAt: Int

  private static let checkPeriod = Interval.milliseconds(100)

  /// - Parameters:
  ///   - asJSON: whether a description on standard output is one line of JSON instead of plain SDP.
  ///   - output: writes to standard output.
  ///   - log: writes a line for the user.
  package init(
    localPath: String?, remotePath: String?, asJSON: Bool, loop: SocketLoop,
    output: @escaping (String) throws(FileError) -> Void, log: @escaping (String) -> Void
  ) {
    self.localPath = localPath
    self.remotePath = remotePath
    self.asJSON = asJSON
    self.loop = loop
    self.output = output
    self.log = log
    startedAt = time(nil)
  }

  deinit { loop.remove(timer) }

  /// Checks that the local description can be written and that the folder of the remote one can be searched.
  package func check() throws(FileError) {
    if let localPath { try FileSink.check(path: localPath) }
    if let remotePath, access(FileSink.folder(of: remotePath), X_OK) != 0 {
      throw FileError(path: remotePath, reason: String(cString: strerror(errno)))
    }
  }

  // MARK: Out

  package func send(_ description: SessionDescriptionText) throws(FileError) {
    guard let localPath else {
      let json: JSON = ["type": .string(description.kind.rawValue), "sdp": .string(description.sdp)]
      // The empty line ends the description where it is pasted.
      return try output(asJSON ? json.description + "\n" : description.sdp + "\n")
    }
    // A reader must never see half of the file, so a draft is renamed. A device or a pipe is written to directly,
    // because a rename would replace it.
    var status = stat()
    let isReplaceable = lstat(localPath, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    let draft = isReplaceable ? localPath + ".part" : localPath
    do throws(FileError) {
      let file = try FileSink(path: draft)
      file.write(description.sdp)
      try file.close()
    } catch {
      if isReplaceable { unlink(draft) }
      throw FileError(path: localPath, reason: error.reason)
    }
    guard !isReplaceable || rename(draft, localPath) == 0 else {
      throw FileError(path: localPath, reason: String(cString: strerror(errno)))
    }
  }

  // MARK: In

  /// Waits for the remote description, and passes its SDP to `take`.
  ///
  /// - Parameter isAnswer: whether to wait for an answer instead of an offer. A file from before this call cannot be
  ///   the answer and is ignored.
  package func awaitRemote(
    isAnswer: Bool, _ take: @escaping (String) -> Void, onFailure: @escaping (FileError) -> Void
  ) {
    let wanted: SessionDescriptionText.Kind = isAnswer ? .answer : .offer
    let take = { [remotePath] (text: String) in
      do throws(FileError) {
        take(try Self.sdp(in: text, wanted, from: remotePath ?? "standard input"))
      } catch {
        onFailure(error)
      }
    }
    if let remotePath {
      timer = loop.makeTimer { [unowned self] in check(remotePath, isAnswer: isAnswer, take, onFailure) }
      timer.deadline = loop.now
    } else {
      reader = LineReader(
        STDIN_FILENO, loop: loop, keepsEmptyLines: true,
        line: { [unowned self] in paste($0, take) }, end: { [unowned self] _ in finishPaste(take, onFailure) })
    }
  }

  /// Takes the file once its size has not changed for one period.
  private func check(
    _ path: String, isAnswer: Bool, _ take: (String) -> Void, _ onFailure: (FileError) -> Void
  ) {
    timer.deadline = loop.now + Self.checkPeriod
    var status = stat()
    guard stat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFREG else {
      timer.deadline = nil
      return onFailure(
        FileError(path: path, reason: "is not a regular file; standard input is read without --remote-description"))
    }
    guard status.st_size > 0 else { return }
    guard !isAnswer || status.st_mtim.tv_sec >= startedAt else { return noteOldAnswer(path) }
    guard lastSize == Int(status.st_size) else {
      lastSize = Int(status.st_size)
      return
    }
    timer.deadline = nil
    do throws(FileError) {
      take(String(decoding: try FileBytes.read(path), as: UTF8.self))
    } catch {
      onFailure(error)
    }
  }

  /// Logs, once, that a file from before the offer is ignored.
  private func noteOldAnswer(_ path: String) {
    guard !hasNotedOldAnswer else { return }
    hasNotedOldAnswer = true
    log("\(path) is older than the offer; waiting until it is written again")
  }

  /// Adds a pasted line. An empty line or complete JSON ends the description.
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
    take(text)
  }

  /// Returns the SDP of a text: plain SDP, or the JSON of `JSON.stringify(pc.localDescription)` in a browser.
  private static func sdp(
    in text: String, _ wanted: SessionDescriptionText.Kind, from source: String
  ) throws(FileError) -> String {
    guard text.hasPrefix("{") else { return text }
    let json: JSON
    do throws(JSONError) {
      // Drops final line ends, which would seem to belong to truncated JSON.
      json = try JSON(parsing: text.utf8.reversed().drop { $0 == 0x0A || $0 == 0x0D }.reversed())
    } catch {
      let isCut = error.reason == .unexpectedEnd
      throw FileError(path: source, reason: isCut ? "has JSON that is cut short" : "has JSON with a mistake: \(error)")
    }
    if let type = json["type"]?.string, type != wanted.rawValue {
      throw FileError(path: source, reason: "has a description of type '\(type)', and '\(wanted.rawValue)' is wanted")
    }
    guard let sdp = json["sdp"]?.string else { throw FileError(path: source, reason: "has JSON without an 'sdp' text") }
    return sdp
  }
}
