/// A complete request or response of HTTP/1.1 (RFC 9112).
package struct HTTPMessage: Hashable {
  /// The three parts of the start line: method, target and version, or version, status and reason.
  var start: [String]
  var headers: [Header] = []
  var body: [UInt8] = []

  struct Header: Hashable {
    var name: String
    var value: String
  }

  /// A request; its length stands in it if it has a body or its method wants one.
  init(_ method: String, _ target: String, host: String, body: [UInt8]? = nil) {
    start = [method, target, "HTTP/1.1"]
    headers = [Header(name: "Host", value: host)]
    setBody(body)
  }

  /// A response.
  init(status: Int, _ reason: String, type: String = "text/plain; charset=UTF-8", body: [UInt8]) {
    start = ["HTTP/1.1", "\(status)", reason]
    setBody(body, type: type)
  }

  fileprivate init(start: [String], headers: [Header]) { (self.start, self.headers) = (start, headers) }

  private mutating func setBody(_ body: [UInt8]?, type: String = "text/plain;charset=UTF-8") {
    guard let body else { return }
    self.body = body
    headers.append(Header(name: "Content-Type", value: type))
    headers.append(Header(name: "Content-Length", value: "\(body.count)"))
  }

  /// Returns the value of the first header of a name, which is compared without case.
  package func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }

  /// The status of a response; nil for a request.
  var status: Int? { start[0].hasPrefix("HTTP/") ? Int(start[1]) : nil }

  /// Whether the sender keeps the connection for further messages.
  var keepsAlive: Bool { header("connection")?.lowercased() != "close" && !start.contains("HTTP/1.0") }

  /// Whether a request asks for another protocol: WebSocket.
  var isUpgrade: Bool { header("upgrade")?.lowercased() == "websocket" }

  /// The path of a request's target.
  var path: Substring { start[1].prefix { $0 != "?" } }

  /// Returns a parameter of a request's query.
  func parameter(_ name: String) -> String? {
    guard let question = start[1].firstIndex(of: "?") else { return nil }
    for pair in start[1][question...].dropFirst().split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts[0] == name { return parts.count > 1 ? String(parts[1]) : "" }
    }
    return nil
  }

  /// The bytes on the wire.
  package var encoded: [UInt8] {
    let lines = [start.joined(separator: " ")] + headers.map { "\($0.name): \($0.value)" } + ["", ""]
    return Array(lines.joined(separator: "\r\n").utf8) + body
  }
}

/// The reason for which bytes are no HTTP message that is served here.
package enum HTTPProblem: Error, Hashable {
  case badHead, headTooLarge, badLength, bodyTooLarge
  /// A response that ends with its connection: none of them is awaited here.
  case unknownLength
}

/// Finds the messages in one direction of a connection.
package struct HTTPParser {
  static let headLimit = 8_192

  /// The limit of a body in bytes.
  let bodyLimit: Int
  private var bytes: [UInt8] = []
  private var head: (message: HTTPMessage, end: Int)?

  package init(bodyLimit: Int) { self.bodyLimit = bodyLimit }

  /// The number of bytes that no message was made of.
  var byteCount: Int { bytes.count }

  package mutating func append(_ more: [UInt8]) { bytes += more }

  /// Returns the head of the message that comes next, once it is complete; the message stays.
  mutating func nextHead() throws(HTTPProblem) -> HTTPMessage? {
    if let head { return head.message }
    guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
      // Of its end, three bytes may be there already.
      if bytes.count > Self.headLimit + 3 { throw .headTooLarge }
      return nil
    }
    guard end.lowerBound <= Self.headLimit else { throw .headTooLarge }
    let message = try Self.head(of: bytes[..<end.lowerBound])
    head = (message, end.upperBound)
    return message
  }

  /// Returns and removes the next message, once it is complete.
  package mutating func next() throws(HTTPProblem) -> HTTPMessage? {
    guard try nextHead() != nil, let (found, start) = head else { return nil }
    var message = found
    let end: Int
    if message.header("transfer-encoding")?.lowercased() == "chunked" {
      guard let chunked = try Self.chunks(bytes[start...], limit: bodyLimit) else { return nil }
      message.body = chunked.body
      end = chunked.end
    } else {
      let length = try Self.length(of: message)
      guard length <= bodyLimit else { throw .bodyTooLarge }
      end = start + length
      guard bytes.count >= end else { return nil }
      message.body = Array(bytes[start..<end])
    }
    bytes.removeFirst(end)
    head = nil
    return message
  }

  /// Returns and removes all bytes that no message was made of: another protocol follows.
  mutating func takeRest() -> [UInt8] {
    defer { (bytes, head) = ([], nil) }
    return bytes
  }

  private static func head(of bytes: ArraySlice<UInt8>) throws(HTTPProblem) -> HTTPMessage {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .badHead }
    let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
    let start = lines[0].split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    guard start.count >= 2, start[0].hasPrefix("HTTP/1.") || (start.count == 3 && start[2].hasPrefix("HTTP/1.")) else {
      throw .badHead
    }
    var headers: [HTTPMessage.Header] = []
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { throw .badHead }
      let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      headers.append(HTTPMessage.Header(name: String(line[..<colon]), value: String(value)))
    }
    return HTTPMessage(start: start, headers: headers)
  }

  private static func length(of message: HTTPMessage) throws(HTTPProblem) -> Int {
    guard let text = message.header("content-length") else {
      guard let status = message.status, status >= 200, status != 204, status != 304 else { return 0 }
      throw .unknownLength
    }
    guard !text.isEmpty, text.count < 10, text.utf8.allSatisfy({ (48...57).contains($0) }), let length = Int(text)
    else { throw .badLength }
    return length
  }

  /// Returns a chunked body (RFC 9112 section 7.1) and the place after it; nil if it is not complete.
  private static func chunks(
    _ bytes: ArraySlice<UInt8>, limit: Int
  ) throws(HTTPProblem) -> (body: [UInt8], end: Int)? {
    var (body, rest): ([UInt8], _) = ([], bytes)
    let newline = Array("\r\n".utf8)
    while let line = rest.prefix(64).firstRange(of: newline) {
      let digits = String(decoding: rest[rest.startIndex..<line.lowerBound], as: UTF8.self).prefix { $0 != ";" }
      guard digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
        let size = Int(digits, radix: 16)
      else { throw .badLength }
      guard size <= limit, body.count + size <= limit else { throw .bodyTooLarge }
      guard rest.endIndex >= line.upperBound + size + 2 else { return nil }
      let end = line.upperBound + size
      // Nobody here sends trailers.
      guard Array(rest[end..<end + 2]) == newline else { throw .badLength }
      if size == 0 { return (body, end + 2) }
      body += rest[line.upperBound..<end]
      rest = rest[(end + 2)...]
    }
    guard rest.count < 64 else { throw .badLength }
    return nil
  }
}
