public import CallCore
internal import Digests

/// One end of a WebSocket (RFC 6455), sans-IO: the owner carries its byte stream.
///
/// Covers the HTTP upgrade, masking, fragmentation, ping and pong, and the closing handshake. TLS is the stream's.
public struct WebSocket: ~Copyable {
  /// The end of the connection: clients send masked frames, servers do not.
  public enum Role: Sendable { case client, server }

  /// An event of the connection.
  public enum Event: Hashable, Sendable {
    /// The upgrade succeeded; on a server `path` is the path that the client requested.
    case opened(path: String)
    case text(String)
    case binary([UInt8])
    /// The peer closed, with its RFC 6455 section 7.4 status code (1005 when it gave none).
    case closed(code: UInt16)
    /// The peer violated the protocol; the owner drops the stream.
    case failed(WebSocketError)
  }

  private enum Phase { case handshaking, open, closed }

  /// The end that this is.
  public let role: Role
  private var phase = Phase.handshaking
  private var random: RandomStream
  private var handshake: [UInt8] = []
  /// The client's key, which both ends know once the upgrade has succeeded.
  private(set) var key = ""
  private let path: String
  private let subprotocol: String?
  private var parser: WebSocketFrameParser
  private var message: (opcode: WebSocketFrame.Opcode, bytes: [UInt8])?
  private var output: [UInt8] = []
  private var events: [Event] = []

  /// Creates an end. A client requests `path` at `host`; a server ignores both.
  ///
  /// - Parameter subprotocol: The protocol above WebSocket that this end speaks (RFC 6455 section 1.9). The handshake fails
  ///   if the other end does not name it, or if a server names one that a client did not ask for.
  public init(
    _ role: Role, host: String = "", path: String = "/", subprotocol: String? = nil, random: consuming RandomStream
  ) {
    self.role = role
    self.path = path
    self.subprotocol = subprotocol
    self.random = random
    parser = WebSocketFrameParser(expectsMasking: role == .server)
    guard role == .client else { return }
    key = Base64.encode(self.random.bytes(16))
    let lines = [
      "GET \(path) HTTP/1.1", "Host: \(host)", "Upgrade: websocket", "Connection: Upgrade",
      "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13",
    ]
    let ends = subprotocolHeader + ["", ""]
    output += (lines + ends).joined(separator: "\r\n").utf8
  }

  private var subprotocolHeader: [String] { subprotocol.map { ["Sec-WebSocket-Protocol: \($0)"] } ?? [] }

  /// Whether the upgrade has succeeded and no closing handshake has begun.
  public var isOpen: Bool { phase == .open }

  /// Sends a text message, if the connection is open.
  public mutating func send(text: String) { send(WebSocketFrame(.text, payload: Array(text.utf8))) }

  /// Sends a binary message, if the connection is open.
  public mutating func send(binary: [UInt8]) { send(WebSocketFrame(.binary, payload: binary)) }

  /// Begins the closing handshake; nothing is sent after it.
  public mutating func close(code: UInt16 = 1000) {
    guard phase == .open else { return }
    send(WebSocketFrame(.close, payload: [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)]))
    phase = .closed
  }

  /// Receives bytes of the stream, in order.
  public mutating func receive(_ bytes: [UInt8]) {
    switch phase {
    case .closed: return
    case .open: parser.append(bytes)
    case .handshaking:
      handshake += bytes
      guard finishHandshake() else { return }
    }
    readFrames()
  }

  /// Returns and removes the bytes to write to the stream.
  public mutating func takeOutput() -> [UInt8] {
    defer { output.removeAll(keepingCapacity: true) }
    return output
  }

  /// Returns and removes the next event, or nil.
  public mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  private mutating func send(_ frame: WebSocketFrame) {
    guard phase == .open else { return }
    output += frame.encoded(maskingKey: role == .client ? UInt32(truncatingIfNeeded: random.next()) : nil)
  }

  private mutating func fail(_ error: WebSocketError) {
    switch phase {
    case .open: close(code: error.closeCode)
    case .handshaking where role == .server: output += "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8
    case .handshaking, .closed: break
    }
    phase = .closed
    events.append(.failed(error))
  }

  // MARK: Handshake (RFC 6455 section 4)

  /// Returns whether the upgrade has completed; bytes after it are passed to the frame parser.
  private mutating func finishHandshake() -> Bool {
    guard let end = handshake.firstRange(of: Array("\r\n\r\n".utf8)) else {
      if handshake.count > 8_192 { fail(.handshakeTooLarge) }
      return false
    }
    let lines = String(decoding: handshake[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
    var headers: [(name: String, value: String)] = []
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      headers.append((line[..<colon].lowercased(), String(value)))
    }
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    let request = (lines.first ?? "").split(separator: " ")
    var openedPath = path
    switch role {
    case .server:
      guard request.count == 3, request[0] == "GET", header("upgrade")?.lowercased() == "websocket",
        header("connection")?.lowercased().contains("upgrade") == true, header("sec-websocket-version") == "13",
        let clientKey = header("sec-websocket-key"), Base64.decode(clientKey)?.count == 16,
        offers(headers.filter { $0.name == "sec-websocket-protocol" }.map(\.value))
      else {
        fail(.badHandshake)
        return false
      }
      key = clientKey
      openedPath = String(request[1])
      let answer = [
        "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Accept: \(Self.accept(clientKey))",
      ]
      let ends = subprotocolHeader + ["", ""]
      output += (answer + ends).joined(separator: "\r\n").utf8
    case .client:
      guard request.count >= 2, request[1] == "101", header("upgrade")?.lowercased() == "websocket",
        header("sec-websocket-accept") == Self.accept(key), header("sec-websocket-protocol") == subprotocol
      else {
        fail(.badHandshake)
        return false
      }
    }
    phase = .open
    parser.append(handshake[end.upperBound...])
    handshake = []
    events.append(.opened(path: openedPath))
    return true
  }

  /// Returns whether a client offers the server's subprotocol, in one header field or several. A server without one
  /// accepts none of them by saying nothing.
  private func offers(_ fields: [String]) -> Bool {
    guard let subprotocol else { return true }
    return fields.contains { field in
      field.split(separator: ",").contains { $0.drop { $0 == " " }.prefix { $0 != " " } == subprotocol }
    }
  }

  private static func accept(_ key: String) -> String {
    Base64.encode(HashFunction.sha1.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
  }

  // MARK: Frames

  private mutating func readFrames() {
    while phase == .open {
      do throws(WebSocketError) {
        guard let frame = try parser.next() else { return }
        try handle(frame)
      } catch {
        fail(error)
      }
    }
  }

  private mutating func handle(_ frame: WebSocketFrame) throws(WebSocketError) {
    switch frame.opcode {
    case .ping: send(WebSocketFrame(.pong, payload: frame.payload))
    case .pong: break
    case .close:
      let code = try Self.closeCode(frame.payload)
      close(code: code ?? 1000)
      events.append(.closed(code: code ?? 1005))
    case .text, .binary:
      guard message == nil else { throw .unexpectedContinuation }
      message = (frame.opcode, frame.payload)
      if frame.isFinal { try deliver() }
    case .continuation:
      guard let begun = message?.bytes.count else { throw .unexpectedContinuation }
      guard begun + frame.payload.count <= WebSocketFrameParser.messageLimit else { throw .messageTooLarge }
      message?.bytes += frame.payload
      if frame.isFinal { try deliver() }
    }
  }

  /// Returns the status of a close frame, nil if it has none (RFC 6455 sections 5.5.1 and 7.4.2).
  private static func closeCode(_ payload: [UInt8]) throws(WebSocketError) -> UInt16? {
    guard !payload.isEmpty else { return nil }
    guard payload.count >= 2, String(validating: payload.dropFirst(2), as: UTF8.self) != nil else {
      throw .badCloseFrame
    }
    let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
    switch code {
    case 1000...1003, 1007...1014, 3000...4999: return code
    default: throw .badCloseFrame
    }
  }

  private mutating func deliver() throws(WebSocketError) {
    guard let (opcode, bytes) = message else { return }
    message = nil
    guard opcode == .text else { return events.append(.binary(bytes)) }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalidUTF8 }
    events.append(.text(text))
  }
}
