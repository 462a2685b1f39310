internal import CallCore

/// The TLS secrets of a key log in NSS format, by client random: enough to decrypt the connections.
package final class TLSSecrets {
  private var secrets: [String: [UInt8]] = [:]

  package init() {}

  /// Adds a line such as `CLIENT_TRAFFIC_SECRET_0 <client random> <secret>`; ignores others.
  ///
  /// - Returns: whether it is new. Both ends of a connection log the same secrets.
  @discardableResult
  package func add(_ line: String) -> Bool {
    let parts = line.split(separator: " ")
    guard parts.count == 3, let secret = Self.bytes(parts[2]) else { return true }
    return secrets.updateValue(secret, forKey: "\(parts[0]) \(parts[1].lowercased())") == nil
  }

  func secret(_ label: String, clientRandom: [UInt8]) -> [UInt8]? {
    let digits = Array("0123456789abcdef".utf8)
    let random = clientRandom.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return secrets["\(label) " + String(decoding: random, as: UTF8.self)]
  }

  private static func bytes(_ text: Substring) -> [UInt8]? {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.count, digits.count % 2 == 0 else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
