@testable import Formats

/// Reads the boxes of an MP4 file, by ISO/IEC 14496-12 and not by the writer.
struct MP4Reader {
  struct Box {
    let name: String
    let content: ArraySlice<UInt8>
    var boxes: [Box] = []

    /// The first box at a path of names.
    subscript(path: String...) -> Box? {
      path.reduce(Optional(self)) { box, name in box?.boxes.first { $0.name == name } }
    }

    /// The number of four bytes at an offset in the content.
    func word(at offset: Int) -> UInt32 { UInt32(number(at: offset, bytes: 4)) }

    func number(at offset: Int, bytes count: Int) -> UInt64 {
      let start = content.startIndex + offset
      guard start + count <= content.endIndex else { return 0 }
      return content[start..<start + count].reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  /// The boxes that hold boxes, with the number of bytes before these.
  private static let containers = [
    "moov": 0, "trak": 0, "edts": 0, "mdia": 0, "minf": 0, "dinf": 0, "stbl": 0, "stsd": 8, "dref": 8, "avc1": 78,
    "Opus": 28,
  ]

  let bytes: [UInt8]
  let boxes: [Box]

  /// Reads a file; nil if the lengths of its boxes do not add up.
  init?(_ bytes: [UInt8]) {
    self.bytes = bytes
    guard let boxes = Self.boxes(in: bytes[...]) else { return nil }
    self.boxes = boxes
  }

  private static func boxes(in bytes: ArraySlice<UInt8>) -> [Box]? {
    var boxes: [Box] = []
    var rest = bytes
    while !rest.isEmpty {
      guard rest.count >= 8 else { return nil }
      let whole = Box(name: "", content: rest)
      let isLong = whole.word(at: 0) == 1
      let size = isLong ? Int(whole.number(at: 8, bytes: 8)) : Int(whole.word(at: 0))
      let start = isLong ? 16 : 8
      guard size >= start, size <= rest.count else { return nil }
      let name = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
      var box = Box(name: name, content: rest.prefix(size).dropFirst(start))
      if let before = containers[name] {
        guard let inner = Self.boxes(in: box.content.dropFirst(before)) else { return nil }
        box.boxes = inner
      }
      boxes.append(box)
      rest = rest.dropFirst(size)
    }
    return boxes
  }

  var names: [String] { boxes.map(\.name) }
  var movie: Box? { boxes.first { $0.name == "moov" } }
  var tracks: [Box] { movie?.boxes.filter { $0.name == "trak" } ?? [] }

  /// The track with a handler: `vide` or `soun`.
  func track(_ handler: String) -> Box? {
    tracks.first { track in
      track["mdia", "hdlr"].map { String(decoding: $0.content.dropFirst(8).prefix(4), as: UTF8.self) } == handler
    }
  }

  /// The edits of a track: durations, and where they begin in the media; nil for an empty one.
  func edits(of track: Box) -> [(duration: UInt32, start: UInt32?)] {
    guard let list = track["edts", "elst"] else { return [] }
    return (0..<Int(list.word(at: 4))).map { index in
      let start = list.word(at: 12 + 12 * index)
      return (list.word(at: 8 + 12 * index), start == .max ? nil : start)
    }
  }

  /// The samples of a track, read where its tables say.
  func samples(of track: Box) -> [[UInt8]] {
    guard let table = track["mdia", "minf", "stbl"], let sizes = table["stsz"], let offsets = table["co64"] else {
      return []
    }
    var offset = Int(offsets.number(at: 8, bytes: 8))
    return (0..<Int(sizes.word(at: 8))).map { index in
      let size = Int(sizes.word(at: 12 + 4 * index))
      defer { offset += size }
      return Array(bytes[offset..<offset + size])
    }
  }

  /// The durations of a track's samples.
  func durations(of track: Box) -> [UInt32] {
    guard let times = track["mdia", "minf", "stbl", "stts"] else { return [] }
    return (0..<Int(times.word(at: 4))).flatMap { run in
      Array(repeating: times.word(at: 12 + 8 * run), count: Int(times.word(at: 8 + 8 * run)))
    }
  }
}
