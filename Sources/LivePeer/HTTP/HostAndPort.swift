/// A host and a port, written `host:port` with IPv6 addresses in brackets.
package struct HostAndPort: Sendable, CustomStringConvertible {
  package let host: String
  package let port: Int

  init(_ host: String, _ port: Int) {
    self.host = host
    self.port = port
  }

  package init?(_ text: String, defaultPort: Int? = nil) {
    var host = text[...]
    let bracket = text.lastIndex(of: "]") ?? text.startIndex
    if let colon = text[bracket...].lastIndex(of: ":") {
      host = text[..<colon]
      guard let number = UInt16(text[text.index(after: colon)...]) else { return nil }
      port = Int(number)
    } else if let defaultPort {
      port = defaultPort
    } else {
      return nil
    }
    if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
    guard !host.isEmpty else { return nil }
    self.host = String(host)
  }

  package var description: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
}
