internal import CallCore
package import STUN

/// A fuzzer's bytes as a list of things to do: fields are cut from the front, and an empty rest reads as zeros.
package struct FuzzInput {
  private let bytes: [UInt8]
  private var offset = 0

  package init(_ input: RawSpan) { bytes = input.copied }

  package var isEmpty: Bool { offset >= bytes.count }

  package mutating func byte() -> UInt8 {
    guard offset < bytes.count else { return 0 }
    defer { offset += 1 }
    return bytes[offset]
  }

  package mutating func word() -> UInt16 { UInt16(byte()) << 8 | UInt16(byte()) }

  /// At most `count` bytes.
  package mutating func take(_ count: Int) -> [UInt8] {
    let end = min(bytes.count, offset + count)
    defer { offset = end }
    return Array(bytes[offset..<end])
  }

  /// A piece that says its length in two bytes.
  package mutating func chunk() -> [UInt8] { take(Int(word())) }

  package mutating func rest() -> [UInt8] { take(bytes.count) }

  package mutating func text() -> String { String(decoding: chunk(), as: UTF8.self) }

  /// STUN attributes, each with its type, a byte for its length, and its value, up to a type of zero.
  package mutating func appendAttributes(to message: inout STUNMessageBuilder) {
    for _ in 0..<8 {
      let type = word()
      guard type != 0 else { return }
      message.append(STUNAttribute<[UInt8]>(type), take(Int(byte())))
    }
  }
}
