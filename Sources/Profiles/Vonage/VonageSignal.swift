/// A signal: a short text to one client of a session, or to all.
struct VonageSignal {
  let type: String
  let data: String
  /// Whether it is sent later where the session is reconnecting.
  var retriesAfterReconnect = true
  /// The connection of the addressee; nil for everybody.
  var to: String?

  /// The limits, in letters of a type and bytes of data.
  static let (typeLimit, dataLimit) = (128, 8_192)

  /// The code of the error of a signal that may not be sent; nil for one that may.
  var problem: String? {
    let isFit = type.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
        true
      default: false
      }
    }
    if !isFit || type.utf8.count > Self.typeLimit { return "1461" }
    return data.utf8.count > Self.dataLimit ? "1413" : nil
  }
}
