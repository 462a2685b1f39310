/// A movie in the ISO base media file format (ISO/IEC 14496-12), for players: the description of all tracks first, then
/// the samples, each track in one piece. It holds no date, so that equal tracks give equal bytes.
package struct MP4File: Sendable {
  /// The resolution of all times: that of sound, which holds the 30th part of a second without a rest.
  package static let ticksPerSecond: UInt32 = 48_000

  package var tracks: [MP4Track]

  package init(_ tracks: [MP4Track]) { self.tracks = tracks }

  /// The whole file.
  package var bytes: [UInt8] {
    let type = MP4Box("ftyp") {
      $0.append(name: "isom")
      $0.append(UInt32(512))
      for brand in ["isom", "iso6", "avc1", "mp41"] { $0.append(name: brand) }
    }
    // The length of the description does not depend on the offsets in it.
    let start = type.bytes.count + movie(dataAt: 0).bytes.count + Self.dataHeaderSize
    var bytes = type.bytes + movie(dataAt: UInt64(start)).bytes
    let size = tracks.reduce(0) { $0 + $1.samples.reduce(0) { $0 + $1.bytes.count } }
    bytes.append(UInt32(1))
    bytes.append(name: "mdat")
    bytes.append(UInt64(Self.dataHeaderSize + size))
    bytes.reserveCapacity(bytes.count + size)
    for sample in tracks.flatMap(\.samples) { bytes += sample.bytes }
    return bytes
  }

  /// The header of a box with a length of 64 bits.
  private static let dataHeaderSize = 16

  private func movie(dataAt start: UInt64) -> MP4Box {
    var offset = start
    var boxes = [header]
    for (index, track) in tracks.enumerated() {
      boxes.append(MP4TrackBoxes(track, number: UInt32(index + 1), samplesAt: offset).track)
      offset += UInt64(track.samples.reduce(0) { $0 + $1.bytes.count })
    }
    return MP4Box("moov", boxes)
  }

  private var header: MP4Box {
    MP4Box(full: "mvhd") {
      $0.append(zeros: 8)
      $0.append(Self.ticksPerSecond)
      $0.append(tracks.map(\.end).max() ?? 0)
      // Rate and volume of 1, as fixed-point numbers.
      $0.append(UInt32(0x1_0000))
      $0.append(UInt16(0x100))
      $0.append(zeros: 10)
      $0.append(MP4TrackBoxes.matrix(.none, width: 0, height: 0))
      $0.append(zeros: 24)
      $0.append(UInt32(tracks.count + 1))
    }
  }
}

/// A box: its length, its name and what it holds.
struct MP4Box {
  let bytes: [UInt8]

  init(_ name: String, _ write: (inout [UInt8]) -> Void) {
    var content: [UInt8] = []
    write(&content)
    var bytes: [UInt8] = []
    bytes.append(UInt32(clamping: content.count + 8))
    bytes.append(name: name)
    self.bytes = bytes + content
  }

  init(_ name: String, _ boxes: [MP4Box]) { self.init(name) { for box in boxes { $0 += box.bytes } } }

  /// Makes a box with a version and flags.
  init(full name: String, version: UInt8 = 0, flags: UInt32 = 0, _ write: (inout [UInt8]) -> Void) {
    self.init(name) {
      $0.append(UInt32(version) << 24 | flags)
      write(&$0)
    }
  }
}

extension [UInt8] {
  /// Appends a number, the highest byte first.
  mutating func append<Number: FixedWidthInteger>(_ value: Number) where Number: UnsignedInteger {
    for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: value >> Number(shift)))
    }
  }

  /// Appends a name of four letters.
  mutating func append(name: String) { self += Array(name.utf8) }

  mutating func append(zeros count: Int) { self += Array(repeating: 0, count: count) }

  mutating func append(_ values: [UInt32]) { for value in values { append(value) } }
}
