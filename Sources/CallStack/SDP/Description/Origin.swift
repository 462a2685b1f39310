/// The `o=` line (RFC 8866 §5.2): the originator of the description, and its version.
package struct Origin: Hashable, Sendable {
  package var username: String
  /// A decimal number, stored as text because some stacks write more digits than fit into 64 bits.
  package var sessionID: String
  package var version: UInt64
  package var connection: Connection

  package init(
    username: String = "-", sessionID: String, version: UInt64, connection: Connection = Connection(address: "0.0.0.0")
  ) {
    self.username = username
    self.sessionID = sessionID
    self.version = version
    self.connection = connection
  }

  init?(_ text: String) {
    let fields = text.fields(maximum: 4)
    guard fields.count == 4, let version = fields[2].number(UInt64.self),
      let connection = Connection(String(fields[3])),
      fields[1].utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
    else { return nil }
    self.init(
      username: String(fields[0]), sessionID: String(fields[1]), version: version, connection: connection)
  }

  var text: String { "\(username) \(sessionID) \(version) \(connection.text)" }
}

/// A network address of a `c=` or `o=` line (RFC 8866 §5.7).
package struct Connection: Hashable, Sendable {
  package var networkType: String
  package var addressType: String
  /// An IP address (perhaps with TTL) or a host name.
  package var address: String

  package init(networkType: String = "IN", addressType: String = "IP4", address: String) {
    self.networkType = networkType
    self.addressType = addressType
    self.address = address
  }

  init?(_ text: String) {
    let fields = text.fields()
    guard fields.count == 3 else { return nil }
    self.init(networkType: String(fields[0]), addressType: String(fields[1]), address: String(fields[2]))
  }

  var text: String { "\(networkType) \(addressType) \(address)" }
}

/// A `b=` line (RFC 8866 §5.8), such as `AS:128` (kbit/s) or `TIAS:128000` (bit/s).
package struct Bandwidth: Hashable, Sendable {
  package var modifier: String
  package var value: UInt64

  package init(modifier: String, value: UInt64) {
    self.modifier = modifier
    self.value = value
  }

  init?(_ text: String) {
    let (modifier, value) = text.halves(":")
    guard modifier.isToken, let value = value?.number(UInt64.self) else { return nil }
    self.init(modifier: String(modifier), value: value)
  }
}
