/// The attributes of one RTP source in a description (`a=ssrc`, RFC 5576 §4.1).
package struct MediaSource: Hashable, Sendable {
  package let ssrc: UInt32
  package internal(set) var cname: String?
  package internal(set) var streamID: MediaStreamID?
  /// The SSRC of this source's retransmissions (`ssrc-group:FID`, RFC 4588).
  package internal(set) var retransmission: UInt32?
  /// The SSRC of this source's forward error correction (`ssrc-group:FEC-FR`, RFC 5956 section 4.3).
  package internal(set) var repair: UInt32?
}

/// `a=ssrc-group` (RFC 5576 §4.2).
package struct SourceGroup: Hashable, Sendable {
  /// The semantics: `FID`, `FEC-FR`, `SIM`, …
  package let semantics: String
  package let ssrcs: [UInt32]

  init?(_ text: String) {
    let fields = text.fields()
    guard fields.count >= 2 else { return nil }
    let numbers = fields[1...].compactMap { $0.number(UInt32.self) }
    guard numbers.count == fields.count - 1 else { return nil }
    semantics = String(fields[0])
    ssrcs = numbers
  }
}

/// `a=msid` (RFC 8830 §2): the stream and the track of a source.
package struct MediaStreamID: Hashable, Sendable {
  /// The stream's identifier; `-` for a track without a stream.
  package var stream: String
  package var track: String?

  package init(stream: String, track: String?) {
    self.stream = stream
    self.track = track
  }

  init?(_ text: String) {
    let fields = text.fields()
    guard fields.count == 1 || fields.count == 2 else { return nil }
    self.init(stream: String(fields[0]), track: fields.count == 2 ? String(fields[1]) : nil)
  }

  var text: String { track.map { "\(stream) \($0)" } ?? stream }
}

/// One `a=ssrc` line.
struct SourceLine {
  let ssrc: UInt32
  let attribute: Attribute

  init?(_ text: String) {
    let fields = text.fields(maximum: 2)
    guard fields.count == 2, let ssrc = fields[0].number(UInt32.self) else { return nil }
    self.ssrc = ssrc
    attribute = Attribute(line: String(fields[1]))
  }
}

extension AttributeList {
  package var sourceGroups: [SourceGroup] { values("ssrc-group").compactMap { SourceGroup($0) } }

  /// The sources, in order of first mention.
  package var sources: [MediaSource] {
    var result: [MediaSource] = []
    for line in values("ssrc").compactMap({ SourceLine($0) }) {
      let position = result.firstIndex { $0.ssrc == line.ssrc } ?? result.count
      if position == result.count { result.append(MediaSource(ssrc: line.ssrc)) }
      switch line.attribute.name {
      case "cname": result[position].cname = line.attribute.value
      case "msid": result[position].streamID = line.attribute.value.flatMap { MediaStreamID($0) }
      default: break
      }
    }
    for group in sourceGroups where group.ssrcs.count == 2 {
      guard let position = result.firstIndex(where: { $0.ssrc == group.ssrcs[0] }) else { continue }
      switch group.semantics {
      case "FID": result[position].retransmission = group.ssrcs[1]
      case "FEC-FR": result[position].repair = group.ssrcs[1]
      default: break
      }
    }
    return result
  }
}
