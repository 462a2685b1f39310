import CallCore

extension SessionDescription {
  /// Parses a description with lines that end in CR LF or LF.
  ///
  /// The grammar of known attributes is checked here, so the typed accessors never meet malformed text of a peer.
  package init(parsing bytes: RawSpan, limits: SDPLimits = SDPLimits()) throws(SDPError) {
    var parser = SDPParser(limits: limits)
    try parser.read(bytes)
    self = try parser.finish()
  }

  package init(parsing text: String, limits: SDPLimits = SDPLimits()) throws(SDPError) {
    let bytes = [UInt8](text.utf8)
    try self.init(parsing: bytes.span.bytes, limits: limits)
  }
}

/// Parses line by line; until the first `m=` the current section is the session.
private struct SDPParser {
  let limits: SDPLimits
  var number = 0
  var linesInSection = 0
  var version = false
  var origin: Origin?
  var name: String?
  var lines: [Line] = []
  var attributes: AttributeList = []
  var media: [MediaDescription] = []

  init(limits: SDPLimits) { self.limits = limits }

  mutating func read(_ bytes: RawSpan) throws(SDPError) {
    guard bytes.byteCount <= limits.bytes else { throw failure(.tooLarge) }
    var start = 0
    while start < bytes.byteCount {
      var end = start
      while let byte = bytes.byte(at: end), byte != 0x0A { end += 1 }
      number += 1
      let trimmed = end > start && bytes.byte(at: end - 1) == 0x0D ? end - 1 : end
      guard trimmed - start <= limits.bytesPerLine else { throw failure(.lineTooLong) }
      let line = bytes.bytes(in: start..<trimmed) ?? []
      // Blank lines are not valid SDP, but many senders append one.
      if line.isEmpty && isBlank(bytes, from: end) { return }
      try read(line: line)
      start = end + 1
    }
  }

  private func isBlank(_ bytes: RawSpan, from start: Int) -> Bool {
    for offset in start..<max(start, bytes.byteCount) {
      if let byte = bytes.byte(at: offset), byte != 0x0A, byte != 0x0D { return false }
    }
    return true
  }

  private mutating func read(line bytes: [UInt8]) throws(SDPError) {
    guard !bytes.contains(where: { $0 == 0 || $0 == 0x0D }) else { throw failure(.invalidCharacter) }
    guard bytes.count >= 2, bytes[1] == UInt8(ascii: "="), bytes[0] > 0x20, bytes[0] < 0x7F else {
      throw failure(.notTypeEqualsValue)
    }
    guard let value = String(validating: bytes[2...], as: UTF8.self) else { throw failure(.invalidCharacter) }
    linesInSection += 1
    guard linesInSection <= limits.linesPerSection else { throw failure(.tooManyLines) }
    try read(Unicode.Scalar(bytes[0]), value)
  }

  private mutating func read(_ type: Unicode.Scalar, _ value: String) throws(SDPError) {
    guard version, origin != nil, name != nil else { return try readPreamble(type, value) }
    switch type {
    case "a": try readAttribute(value)
    case "m": try readMedia(value)
    case "i", "c", "b", "k": try readLine(type, value)
    case "u", "e", "p", "t", "r", "z":
      guard media.isEmpty else { throw failure(.unexpectedLine(type)) }
      try readLine(type, value)
    // RFC 8866 §5: an unknown type letter makes the whole description unusable.
    default: throw failure(.unexpectedLine(type))
    }
  }

  /// Parses `v=`, `o=` and `s=`, which come first and in this order.
  private mutating func readPreamble(_ type: Unicode.Scalar, _ value: String) throws(SDPError) {
    let expected: Unicode.Scalar = !version ? "v" : origin == nil ? "o" : "s"
    guard type == expected else { throw failure(.missingLine(expected)) }
    switch expected {
    case "v":
      guard value == "0" else { throw failure(.malformed("v")) }
      version = true
    case "o":
      guard let read = Origin(value) else { throw failure(.malformed("o")) }
      origin = read
    default: name = value
    }
  }

  private mutating func readLine(_ type: Unicode.Scalar, _ value: String) throws(SDPError) {
    let isSound =
      switch type {
      case "c": Connection(value) != nil
      case "b": Bandwidth(value) != nil
      case "t": value.fields().count == 2 && value.fields().allSatisfy { $0.number(UInt64.self) != nil }
      default: true
      }
    guard isSound else { throw failure(.malformed(String(type))) }
    if media.isEmpty { lines.append(Line(type, value)) } else { media[media.count - 1].lines.append(Line(type, value)) }
  }

  private mutating func readAttribute(_ value: String) throws(SDPError) {
    let attribute = Attribute(line: value)
    guard attribute.isWellFormed else { throw failure(.malformed(attribute.name)) }
    if media.isEmpty {
      attributes.all.append(attribute)
    } else {
      media[media.count - 1].attributes.all.append(attribute)
    }
  }

  private mutating func readMedia(_ value: String) throws(SDPError) {
    guard media.count < limits.mediaSections else { throw failure(.tooManyMediaSections) }
    guard let section = MediaDescription(value) else { throw failure(.malformed("m")) }
    media.append(section)
    linesInSection = 1
  }

  func finish() throws(SDPError) -> SessionDescription {
    guard version else { throw failure(.missingLine("v")) }
    guard let origin else { throw failure(.missingLine("o")) }
    guard let name else { throw failure(.missingLine("s")) }
    return SessionDescription(origin: origin, name: name, lines: lines, attributes: attributes, media: media)
  }

  private func failure(_ reason: SDPError.Reason) -> SDPError { SDPError(line: number, reason: reason) }
}
