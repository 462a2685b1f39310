import Testing

@testable import VirtualPeer

@Suite struct HTTPMessageTests {
  private func parse(_ text: String, bodyLimit: Int = 1_000, inPieces: Bool = false) throws -> [HTTPMessage] {
    var parser = HTTPParser(bodyLimit: bodyLimit)
    var messages: [HTTPMessage] = []
    for piece in inPieces ? text.utf8.map({ [$0] }) : [Array(text.utf8)] {
      parser.append(piece)
      while let message = try parser.next() { messages.append(message) }
    }
    return messages
  }

  private func problem(_ text: String) -> HTTPProblem? {
    do { _ = try parse(text, bodyLimit: 10) } catch { return error as? HTTPProblem }
    return nil
  }

  @Test(arguments: [true, false]) func `requests follow one another, however the bytes come`(inPieces: Bool) throws {
    let request = HTTPMessage("POST", "/io/?sid=s1&x", host: "h", body: Array("2probe".utf8))
    let text = String(decoding: request.encoded + HTTPMessage("GET", "/", host: "h").encoded, as: UTF8.self)
    let messages = try parse(text, inPieces: inPieces)
    #expect(messages.map { $0.start[0] } == ["POST", "GET"])
    #expect(messages[0].body == Array("2probe".utf8))
    #expect(messages[0].path == "/io/")
    #expect(messages[0].parameter("sid") == "s1")
    #expect(messages[0].parameter("x") == "")
    #expect(messages[0].parameter("y") == nil)
  }

  @Test(arguments: [true, false]) func `a head of the greatest length is read, however the bytes come`(inPieces: Bool)
    throws
  {
    let start = "GET / HTTP/1.1\r\nX: "
    let text = start + String(repeating: "x", count: HTTPParser.headLimit - start.utf8.count) + "\r\n\r\n"
    #expect(try parse(text, inPieces: inPieces).count == 1)
  }

  @Test(arguments: [true, false]) func `a chunked body is joined`(inPieces: Bool) throws {
    let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;a=b\r\n0{}4\r\nA\r\n0123456789\r\n0\r\n\r\n"
    let messages = try parse(text + "HTTP/1.1 204 No Content\r\n\r\n", inPieces: inPieces)
    #expect(messages.map(\.status) == [200, 204])
    #expect(messages[0].body == Array("0{}40123456789".utf8))
  }

  @Test(
    arguments: [
      ("nonsense\r\n\r\n", .badHead), ("GET / HTTP/1.1\r\nno colon\r\n\r\n", .badHead), ("\r\n\r\n", .badHead),
      ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", .badLength),
      ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", .badLength),
      ("POST / HTTP/1.1\r\nContent-Length: 11\r\n\r\n", .bodyTooLarge),
      ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nB\r\n", .bodyTooLarge),
      ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", .badLength),
      ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n+1\r\na\r\n", .badLength),
      ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", .badLength),
      ("HTTP/1.1 200 OK\r\n\r\n", .unknownLength), (String(repeating: "x", count: 9_000), .headTooLarge),
    ] as [(String, HTTPProblem)])
  func `bytes that are no message have a problem`(text: String, expected: HTTPProblem) {
    #expect(problem(text) == expected)
  }
}
