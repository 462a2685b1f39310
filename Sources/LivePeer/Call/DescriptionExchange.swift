internal import CallCore
package import CallSession
package import Formats
internal import LibC

/// Descriptions by files, or pasted through standard input and output.
package final class DescriptionExchange {
  /// Where the local description goes; nil for standard output.
  private let localPath: String?
  /// Where the remote description comes from; nil for standard input.
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
  ///   - asJSON: whether a description on standard output is one line of JSON, or plain SDP.
  ///   - output: standard output.
  ///   - log: lines for people.
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

  /// Tells beforehand which of the files can be neither written nor ever be there.
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
      // The empty line is what ends a description that is pasted elsewhere.
      return try output(asJSON ? json.description + "\n" : description.sdp + "\n")
    }
    // Whoever waits for the file is never to see half of it.
    // What is no regular file is written into: a rename would take a device's or a pipe's place.
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

  /// Waits for the remote description, and hands its SDP to `take`.
  ///
  /// - Parameter isAnswer: whether an answer is wanted, which can only be of now: a file from before this call is not
  ///   it. An offer is wanted otherwise.
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

  /// A file counts once it has not grown for one period.
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

  /// Says once that a file is not taken because it was there before the offer.
  private func noteOldAnswer(_ path: String) {
    guard !hasNotedOldAnswer else { return }
    hasNotedOldAnswer = true
    log("\(path) is older than the offer; waiting until it is written again")
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
    take(text)
  }

  /// Plain SDP, or the JSON that `JSON.stringify(pc.localDescription)` gives in a browser.
  private static func sdp(
    in text: String, _ wanted: SessionDescriptionText.Kind, from source: String
  ) throws(FileError) -> String {
    guard text.hasPrefix("{") else { return text }
    let json: JSON
    do throws(JSONError) {
      // A line's end behind JSON that is cut short would seem to belong to it.
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
