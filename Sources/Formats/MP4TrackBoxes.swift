/// The boxes that describe a track (ISO/IEC 14496-12 section 8).
struct MP4TrackBoxes {
  private let source: MP4Track
  private let number: UInt32
  private let offset: UInt64

  /// - Parameter offset: the place of the first sample in the file.
  init(_ track: MP4Track, number: UInt32, samplesAt offset: UInt64) {
    source = track
    self.number = number
    self.offset = offset
  }

  var track: MP4Box {
    let media = MP4Box("mdia", [mediaHeader, handler, MP4Box("minf", [kindHeader, dataInformation, sampleTable])])
    return MP4Box("trak", [header, MP4Box("edts", [editList]), media])
  }

  // MARK: The track

  private var size: (width: UInt32, height: UInt32) {
    if case .h264(let width, let height, _, _) = source.coding {
      (UInt32(clamping: width), UInt32(clamping: height))
    } else {
      (0, 0)
    }
  }

  private var isSound: Bool { if case .opus = source.coding { true } else { false } }

  private var header: MP4Box {
    // Enabled, in the movie and in a preview.
    MP4Box(full: "tkhd", flags: 7) {
      $0.append(zeros: 8)
      $0.append(number)
      $0.append(zeros: 4)
      $0.append(source.end)
      $0.append(zeros: 12)
      $0.append(UInt16(isSound ? 0x100 : 0))
      $0.append(zeros: 2)
      $0.append(Self.matrix(source.rotation, width: size.width, height: size.height))
      $0.append(size.width << 16)
      $0.append(size.height << 16)
    }
  }

  /// Returns the matrix that turns pictures of a size clockwise and moves them back to the origin.
  static func matrix(_ rotation: MP4Track.Rotation, width: UInt32, height: UInt32) -> [UInt32] {
    let (one, minusOne) = (UInt32(0x1_0000), UInt32(0xFFFF_0000))
    let (a, b, c, d): (UInt32, UInt32, UInt32, UInt32)
    var (x, y) = (UInt32(0), UInt32(0))
    switch rotation {
    case .none: (a, b, c, d) = (one, 0, 0, one)
    case .right:
      (a, b, c, d) = (0, one, minusOne, 0)
      x = height << 16
    case .half:
      (a, b, c, d) = (minusOne, 0, 0, minusOne)
      (x, y) = (width << 16, height << 16)
    case .left:
      (a, b, c, d) = (0, minusOne, one, 0)
      y = width << 16
    }
    return [a, b, 0, c, d, 0, x, y, 0x4000_0000]
  }

  /// An edit without media for the delay, and one for what is played.
  private var editList: MP4Box {
    var edits: [(duration: UInt32, start: UInt32)] = []
    if source.delay > 0 { edits.append((source.delay, .max)) }
    edits.append((source.duration, source.skipped))
    return MP4Box(full: "elst") {
      $0.append(UInt32(edits.count))
      for edit in edits { $0.append([edit.duration, edit.start, 0x1_0000]) }
    }
  }

  // MARK: The media

  private var mediaHeader: MP4Box {
    MP4Box(full: "mdhd") {
      $0.append(zeros: 8)
      $0.append(MP4File.ticksPerSecond)
      $0.append(source.sampleDuration)
      // The language "und".
      $0.append(UInt16(0x55C4))
      $0.append(zeros: 2)
    }
  }

  private var handler: MP4Box {
    MP4Box(full: "hdlr") {
      $0.append(zeros: 4)
      $0.append(name: isSound ? "soun" : "vide")
      $0.append(zeros: 13)
    }
  }

  private var kindHeader: MP4Box {
    isSound ? MP4Box(full: "smhd") { $0.append(zeros: 4) } : MP4Box(full: "vmhd", flags: 1) { $0.append(zeros: 8) }
  }

  private var dataInformation: MP4Box {
    // The samples are in this file.
    let here = MP4Box(full: "url ", flags: 1) { _ in }
    return MP4Box(
      "dinf",
      [
        MP4Box(full: "dref") {
          $0.append(UInt32(1))
          $0 += here.bytes
        }
      ])
  }

  // MARK: The samples

  private var sampleTable: MP4Box {
    var boxes = [descriptions, times]
    if !source.samples.allSatisfy(\.isSync) { boxes.append(syncSamples) }
    boxes += [chunks, sizes, offsets]
    if isSound { boxes += rollGroups }
    return MP4Box("stbl", boxes)
  }

  private var times: MP4Box {
    var runs: [(count: UInt32, duration: UInt32)] = []
    for sample in source.samples {
      if let last = runs.last, last.duration == sample.duration {
        runs[runs.count - 1].count += 1
      } else {
        runs.append((1, sample.duration))
      }
    }
    return MP4Box(full: "stts") {
      $0.append(UInt32(runs.count))
      for run in runs { $0.append([run.count, run.duration]) }
    }
  }

  private var syncSamples: MP4Box {
    let numbers = source.samples.indices.filter { source.samples[$0].isSync }.map { UInt32($0 + 1) }
    return MP4Box(full: "stss") {
      $0.append(UInt32(numbers.count))
      $0.append(numbers)
    }
  }

  private var chunks: MP4Box {
    let isEmpty = source.samples.isEmpty
    return MP4Box(full: "stsc") {
      $0.append(UInt32(isEmpty ? 0 : 1))
      if !isEmpty { $0.append([1, UInt32(source.samples.count), 1]) }
    }
  }

  private var sizes: MP4Box {
    MP4Box(full: "stsz") {
      $0.append([0, UInt32(source.samples.count)])
      $0.append(source.samples.map { UInt32(clamping: $0.bytes.count) })
    }
  }

  private var offsets: MP4Box {
    MP4Box(full: "co64") {
      $0.append(UInt32(source.samples.isEmpty ? 0 : 1))
      if !source.samples.isEmpty { $0.append(offset) }
    }
  }

  /// A decoder of Opus needs 80 ms before a sample: four packets of 20 ms.
  private var rollGroups: [MP4Box] {
    [
      MP4Box(full: "sgpd", version: 1) {
        $0.append(name: "roll")
        $0.append([2, 1])
        $0.append(UInt16(bitPattern: -4))
      },
      MP4Box(full: "sbgp") {
        $0.append(name: "roll")
        $0.append([1, UInt32(source.samples.count), 1])
      },
    ]
  }

  // MARK: The codecs

  private var descriptions: MP4Box {
    MP4Box(full: "stsd") {
      $0.append(UInt32(1))
      switch source.coding {
      case .h264(_, _, let sequence, let picture): $0 += pictures(sequence, picture).bytes
      case .opus(let channels, let preSkip): $0 += sound(channels, preSkip).bytes
      }
    }
  }

  private func pictures(_ sequence: [[UInt8]], _ picture: [[UInt8]]) -> MP4Box {
    let profile = sequence.first.map { Array($0.dropFirst().prefix(3)) } ?? [0, 0, 0]
    let configuration = MP4Box("avcC") {
      $0.append(UInt8(1))
      $0 += profile
      // The lengths of NAL units have four bytes.
      $0 += [0xFC | 3, 0xE0 | UInt8(sequence.count & 0x1F)]
      for unit in sequence.prefix(0x1F) { $0.append(counted: unit) }
      $0.append(UInt8(clamping: picture.count))
      for unit in picture.prefix(0xFF) { $0.append(counted: unit) }
    }
    return MP4Box("avc1") {
      $0.append(zeros: 6)
      $0.append(UInt16(1))
      $0.append(zeros: 16)
      $0.append(UInt16(clamping: size.width))
      $0.append(UInt16(clamping: size.height))
      // 72 dots an inch.
      $0.append([0x48_0000, 0x48_0000, 0])
      $0.append(UInt16(1))
      $0.append(zeros: 32)
      $0.append(UInt16(0x18))
      $0.append(UInt16.max)
      $0 += configuration.bytes
    }
  }

  private func sound(_ channels: Int, _ preSkip: Int) -> MP4Box {
    let configuration = MP4Box("dOps") {
      $0 += [0, UInt8(clamping: channels)]
      $0.append(UInt16(clamping: preSkip))
      $0.append(MP4File.ticksPerSecond)
      $0.append(zeros: 3)
    }
    return MP4Box("Opus") {
      $0.append(zeros: 6)
      $0.append(UInt16(1))
      $0.append(zeros: 8)
      $0.append(UInt16(clamping: channels))
      $0.append(UInt16(16))
      $0.append(zeros: 4)
      $0.append(MP4File.ticksPerSecond << 16)
      $0 += configuration.bytes
    }
  }
}

extension [UInt8] {
  /// Appends bytes after their number.
  fileprivate mutating func append(counted bytes: [UInt8]) {
    append(UInt16(clamping: bytes.count))
    self += bytes
  }
}
