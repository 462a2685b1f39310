/// The parts of an `http:` URL.
package struct HTTPPlace: Sendable, LosslessStringConvertible {
  package let authority: HostAndPort
  package let path: String

  package var host: String { authority.host }
  package var port: Int { authority.port }

  package init?(_ text: String) {
    guard text.hasPrefix("http://") else { return nil }
    let rest = text.dropFirst(7)
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    guard let authority = HostAndPort(String(rest[..<slash]), defaultPort: 80) else { return nil }
    self.authority = authority
    path = slash == rest.endIndex ? "/" : String(rest[slash...])
  }

  package var description: String { "http://\(authority)\(path)" }
}
