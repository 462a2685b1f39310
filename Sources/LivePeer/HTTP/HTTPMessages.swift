/// A request to the HTTP endpoint, whole.
package struct HTTPRequest: Sendable {
  package var method: String
  package var path: String
  package var contentType: String
  /// The name the client knows this server by, without the port; empty when it said none, as HTTP/1.0 may.
  package var host = ""
  package var body: [UInt8]

  package init(_ method: String, _ path: String, contentType: String = "", body: [UInt8] = []) {
    self.method = method
    self.path = path
    self.contentType = contentType
    self.body = body
  }
}

/// What it is answered with.
package struct HTTPResponse: Sendable {
  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]

  package init(_ status: Int, _ headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  package init(_ status: Int, text: String, type: String = "text/plain; charset=utf-8") {
    self.init(status, [("Content-Type", type)], body: [UInt8](text.utf8))
  }
}
