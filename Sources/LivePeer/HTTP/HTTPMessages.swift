/// A complete request to the HTTP endpoint.
package struct HTTPRequest: Sendable {
  package var method: String
  package var path: String
  package var contentType: String
  /// The client's name for this server, without the port; empty if the request has none, as HTTP/1.0 allows.
  package var host = ""
  package var body: [UInt8]

  package init(_ method: String, _ path: String, contentType: String = "", body: [UInt8] = []) {
    self.method = method
    self.path = path
    self.contentType = contentType
    self.body = body
  }
}

/// The response to an ``HTTPRequest``.
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
