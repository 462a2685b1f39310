/// Why a text is no ``StatsString``, and in which of its lines.
struct StatsStringError: Error, Hashable, CustomStringConvertible {
  let line: Int
  let reason: String

  var description: String { "line \(line): \(reason)" }
}

extension StatsString {
  /// Reads a text whose lines are separated by line feeds.
  init(parsing text: String) throws(StatsStringError) {
    var reader = StatsStringReader(text)
    cpu = reader.begins(with: "(cpu)") ? try reader.cpu() : nil
    connection = try reader.connection()
    videoSend = reader.begins(with: "VS ") ? try reader.videoSend() : nil
    videoReceive = reader.begins(with: "VR ") ? try reader.videoReceive() : nil
    audioSend = reader.begins(with: "AS ") ? try reader.audioSend() : nil
    audioReceive = reader.begins(with: "AR ") ? try reader.audioReceive() : nil
    packetsLost = try reader.packetsLost()
  }
}

/// Reads a text from its beginning to its end.
private struct StatsStringReader {
  /// More digits than any statistics have, and few enough for every sum.
  static let digitLimit = 15
  static let wordLimit = 32

  private var rest: ArraySlice<UInt8>
  private var line = 1

  init(_ text: String) { rest = Array(text.utf8)[...] }

  func begins(with literal: String) -> Bool { rest.starts(with: literal.utf8) }

  private func failure(_ reason: String) -> StatsStringError { StatsStringError(line: line, reason: reason) }

  private func place() -> String {
    let next = rest.prefix(20).prefix { $0 != UInt8(ascii: "\n") }
    return next.isEmpty ? "the line ends" : "there is '\(String(decoding: next, as: UTF8.self))'"
  }

  // MARK: Parts

  private mutating func take(_ literal: String) throws(StatsStringError) {
    guard begins(with: literal) else { throw failure("expected '\(literal)', but \(place())") }
    rest = rest.dropFirst(literal.utf8.count)
  }

  private mutating func endLine() throws(StatsStringError) {
    guard let byte = rest.first else { throw failure("the text ends, but 'Packets lost:' is its last line") }
    guard byte == UInt8(ascii: "\n") else { throw failure("expected the end of the line, but \(place())") }
    rest = rest.dropFirst()
    line += 1
  }

  private mutating func digits() throws(StatsStringError) -> ArraySlice<UInt8> {
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard !digits.isEmpty else { throw failure("expected a number, but \(place())") }
    guard digits.count <= Self.digitLimit else { throw failure("a number has more than \(Self.digitLimit) digits") }
    rest = rest.dropFirst(digits.count)
    return digits
  }

  private static func value(_ digits: ArraySlice<UInt8>) -> Int64 {
    digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
  }

  private mutating func count() throws(StatsStringError) -> Int64 {
    let digits = try digits()
    guard digits.count == 1 || digits.first != UInt8(ascii: "0") else {
      throw failure("a number begins with 0")
    }
    return Self.value(digits)
  }

  /// A number that may be negative; `-0` is none.
  private mutating func signedCount() throws(StatsStringError) -> Int64 {
    guard begins(with: "-") else { return try count() }
    try take("-")
    let size = try count()
    guard size > 0 else { throw failure("a number is -0") }
    return -size
  }

  private mutating func decimal() throws(StatsStringError) -> DecimalNumber {
    let whole = try count()
    guard begins(with: ".") else { return DecimalNumber(digits: whole) }
    try take(".")
    let fraction = try digits()
    guard "\(whole)".utf8.count + fraction.count <= Self.digitLimit else {
      throw failure("a number has more than \(Self.digitLimit) digits")
    }
    let shifted = fraction.reduce(whole) { value, _ in value * 10 }
    return DecimalNumber(digits: shifted + Self.value(fraction), places: fraction.count)
  }

  private mutating func rate() throws(StatsStringError) -> StatsString.Rate {
    let amount = try decimal()
    guard let unit = StatsString.Rate.Unit.allCases.first(where: { begins(with: $0.rawValue) }) else {
      throw failure("expected bps, Kbps or Mbps, but \(place())")
    }
    try take(unit.rawValue)
    return StatsString.Rate(amount: amount, unit: unit)
  }

  /// Letters, digits and `_`, and within them `-`, as in `H264` or `telephone-event`.
  private mutating func word() throws(StatsStringError) -> String {
    let word = rest.prefix(Self.wordLimit + 1).prefix { Self.isOfWord($0) }
    // The dash of an arrow ends a word.
    let arrow = rest.dropFirst(word.count).first == UInt8(ascii: ">") && word.last == UInt8(ascii: "-")
    let taken = arrow ? word.dropLast() : word
    guard !taken.isEmpty else { throw failure("expected a word, but \(place())") }
    guard taken.count <= Self.wordLimit else { throw failure("a word has more than \(Self.wordLimit) letters") }
    rest = rest.dropFirst(taken.count)
    return String(decoding: taken, as: UTF8.self)
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private mutating func milliseconds() throws(StatsStringError) -> Int64 {
    let count = try count()
    try take("ms")
    return count
  }

  private mutating func pictures() throws(StatsStringError) -> StatsString.Pictures {
    let width = try count()
    try take("x")
    let height = try count()
    try take("@")
    let fps = try count()
    try take("fps")
    return StatsString.Pictures(width: width, height: height, fps: fps)
  }

  private mutating func rates() throws(StatsStringError) -> (StatsString.Rate, StatsString.Rate) {
    let first = try rate()
    try take("/")
    return (first, try rate())
  }

  // MARK: Lines

  mutating func cpu() throws(StatsStringError) -> Int64 {
    try take("(cpu)")
    let percent = try count()
    try take("%")
    try endLine()
    return percent
  }

  mutating func connection() throws(StatsStringError) -> StatsString.Connection {
    try take("CN ")
    let time = try milliseconds()
    try take(" | ")
    let local = try word()
    try take("->")
    let remote = try word()
    try take("/")
    let transport = try word()
    try take(" | (s)")
    let sent = try rate()
    try take(" | (r)")
    let received = try rate()
    try endLine()
    return StatsString.Connection(
      roundTripTime: time, localCandidateType: local, remoteCandidateType: remote, transportType: transport,
      sendBitrate: sent, receivedBitrate: received)
  }

  mutating func videoSend() throws(StatsStringError) -> StatsString.VideoSend {
    try take("VS (input) ")
    let input = try pictures()
    try take(" | (sent) ")
    let sent = try pictures()
    try endLine()
    try take("VS (enc) ")
    let (actual, target) = try rates()
    try take(" | (sent) ")
    let (bitrate, available) = try rates()
    try take(" | ")
    let time = try milliseconds()
    try take(" | ")
    let codec = try word()
    try endLine()
    try take("AvgQP (past ")
    let frames = try count()
    try take(" encoded frames) = ")
    let average = try decimal()
    try endLine()
    return StatsString.VideoSend(
      input: input, sent: sent, actualEncodingBitrate: actual, targetEncodingBitrate: target, bitrate: bitrate,
      availableBandwidth: available, encodeTime: time, codec: codec, framesEncoded: frames, averageQP: average)
  }

  mutating func videoReceive() throws(StatsStringError) -> StatsString.VideoReceive {
    try take("VR (recv) ")
    let received = try pictures()
    try take(" | (decoded)")
    let decoded = try count()
    try take(" | (output)")
    let output = try count()
    try take("fps | ")
    let (bitrate, available) = try rates()
    try take(" | ")
    let time = try milliseconds()
    try endLine()
    return StatsString.VideoReceive(
      received: received, decodedFps: decoded, outputFps: output, bitrate: bitrate, availableBandwidth: available,
      decodeTime: time)
  }

  mutating func audioSend() throws(StatsStringError) -> StatsString.AudioSend {
    try take("AS ")
    let bitrate = try rate()
    try take(" | ")
    let codec = try word()
    try endLine()
    return StatsString.AudioSend(bitrate: bitrate, codec: codec)
  }

  mutating func audioReceive() throws(StatsStringError) -> StatsString.AudioReceive {
    try take("AR ")
    let bitrate = try rate()
    try take(" | ")
    let codec = try word()
    try take(" | ")
    let delay = try milliseconds()
    try take(" | (expandrate)")
    let expandRate = try decimal()
    try endLine()
    return StatsString.AudioReceive(bitrate: bitrate, codec: codec, currentDelay: delay, expandRate: expandRate)
  }

  /// The last line.
  mutating func packetsLost() throws(StatsStringError) -> StatsString.PacketsLost {
    try take("Packets lost: VS ")
    let videoSend = try signedCount()
    try take(" | VR ")
    let videoReceive = try signedCount()
    try take(" | AS ")
    let audioSend = try signedCount()
    try take(" | AR ")
    let audioReceive = try signedCount()
    guard rest.isEmpty else { throw failure("expected the end of the text, but \(place())") }
    return StatsString.PacketsLost(
      videoSend: videoSend, videoReceive: videoReceive, audioSend: audioSend, audioReceive: audioReceive)
  }
}
