/// A session description (RFC 8866) as WebRTC uses it (RFC 9429 §5).
///
/// Reading and writing is lossless except for line endings and the order of `a=` lines relative to other lines of a
/// section.
package struct SessionDescription: Hashable, Sendable {
  package var origin: Origin
  /// The `s=` line.
  package var name: String
  /// The session's lines other than `v=`, `o=`, `s=`, `a=` and `m=`, in order.
  package var lines: [Line]
  package var attributes: AttributeList
  package var media: [MediaDescription]

  package init(
    origin: Origin, name: String = "-", lines: [Line] = [Line("t", "0 0")], attributes: AttributeList = [],
    media: [MediaDescription] = []
  ) {
    self.origin = origin
    self.name = name
    self.lines = lines
    self.attributes = attributes
    self.media = media
  }

  /// The description as sent, with CR LF after each line.
  package var text: String {
    var result = "v=0\r\no=\(origin.text)\r\ns=\(name)\r\n"
    append(lines, attributes, to: &result)
    for section in media {
      result += "m=\(section.text)\r\n"
      append(section.lines, section.attributes, to: &result)
    }
    return result
  }

  private func append(_ lines: [Line], _ attributes: AttributeList, to result: inout String) {
    for line in lines { result += "\(line.type)=\(line.value)\r\n" }
    for attribute in attributes.all { result += "a=\(attribute.text)\r\n" }
  }
}

/// A line other than `v=`, `o=`, `s=`, `m=` and `a=`: `c=`, `b=`, `t=`, `i=` and the like.
package struct Line: Hashable, Sendable {
  package var type: Unicode.Scalar
  package var value: String

  package init(_ type: Unicode.Scalar, _ value: String) {
    self.type = type
    self.value = value
  }
}

extension [Line] {
  /// The `c=` line.
  package var connection: Connection? { first { $0.type == "c" }.flatMap { Connection($0.value) } }
  package var bandwidths: [Bandwidth] { compactMap { $0.type == "b" ? Bandwidth($0.value) : nil } }
}
