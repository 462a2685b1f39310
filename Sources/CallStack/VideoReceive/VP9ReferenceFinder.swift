import RTP

/// Finds references of VP9: each frame's own in the flexible mode, else by the group of pictures of the scalability
/// structure (RFC 9628 section 4.2).
struct VP9ReferenceFinder: Sendable {
  /// The group of pictures of a base frame.
  private struct Base: Sendable {
    var number: Int64
    /// The picture with which the group began.
    var start: Int64
    var group: [VP9ScalabilityStructure.Picture]
    /// The last picture that was seen since the base frame.
    var last: Int64

    func picture(_ id: Int64) -> VP9ScalabilityStructure.Picture {
      let distance = (id - start) % Int64(group.count)
      return group[Int(distance < 0 ? distance + Int64(group.count) : distance)]
    }
  }

  private var pictures = PictureIDUnwrapper()
  private var numbers = Unwrapper<UInt8>()
  private var bases: [Base] = []
  /// The pictures that have not arrived, by temporal layer.
  private var missing = Array(repeating: SortedSet(capacity: 100), count: 8)
  private var switches: [(id: Int64, layer: UInt8)] = []
  private static let maximumBases: Int64 = 50
  /// The distance between the numbers of pictures, so that each layer frame has its own.
  private static let layerCount: Int64 = 8
  /// The group of a stream that does not describe one: a single layer, each picture refers to the one before.
  private static let plainGroup = [VP9ScalabilityStructure.Picture(temporalLayer: 0, references: [1])]

  /// The numbers of a frame, extended.
  struct Numbers: Sendable {
    var picture: Int64
    /// The number of the base frame; nil in the flexible mode.
    var base: Int64?
  }

  mutating func numbers(_ picture: PictureID, _ base: UInt8?) -> Numbers {
    Numbers(picture: pictures.unwrap(picture), base: base.map { numbers.unwrap($0) })
  }

  mutating func find(
    _ frame: inout EncodedFrame, _ numbers: Numbers, descriptor: VP9PayloadDescriptor
  ) -> ReferenceDecision {
    frame.references = FrameReferences()
    if descriptor.isFlexible {
      for index in 0..<descriptor.references.count {
        frame.references.append(numbers.picture - Int64(descriptor.references[index]))
      }
      return flatten(&frame, numbers.picture, descriptor)
    }
    guard let base = numbers.base else { return .drop }
    guard !frame.isKeyFrame else { return findKey(&frame, numbers.picture, base, descriptor) }
    let isBase = descriptor.layer?.temporal ?? 0 == 0
    if isBase, let structure = descriptor.structure {
      begin(base, structure, at: numbers.picture)
    }
    let known = isBase && descriptor.structure == nil ? base - 1 : base
    guard var place = bases.firstIndex(where: { $0.number == known }) else { return .stash }
    if isBase, known != base { place = copy(place, to: base, last: numbers.picture) }
    bases.removeAll { $0.number < base - Self.maximumBases }
    guard let current = bases.firstIndex(where: { $0.number == base }) else { return .drop }
    note(numbers.picture, current)
    if isMissing(numbers.picture, current) { return .stash }
    let layer = descriptor.layer?.temporal ?? 0
    if descriptor.layer?.isSwitchingUpPoint ?? false, !switches.contains(where: { $0.id == numbers.picture }) {
      switches.append((numbers.picture, layer))
    }
    switches.removeAll { $0.id < numbers.picture - 50 }
    if descriptor.isInterPicturePredicted {
      let picture = bases[current].picture(numbers.picture)
      for index in 0..<picture.references.count {
        let reference = numbers.picture - Int64(picture.references[index])
        // A frame does not refer to what lies before the last point at which its layer was switched up to.
        let isCut = switches.contains { $0.id > reference && $0.id < numbers.picture && $0.layer < layer }
        if !isCut { frame.references.append(reference) }
      }
    }
    return flatten(&frame, numbers.picture, descriptor)
  }

  private mutating func findKey(
    _ frame: inout EncodedFrame, _ picture: Int64, _ base: Int64, _ descriptor: VP9PayloadDescriptor
  ) -> ReferenceDecision {
    if descriptor.layer?.temporal ?? 0 == 0, let structure = descriptor.structure {
      begin(base, structure, at: picture)
    } else if descriptor.layer?.spatial ?? 0 == 0 {
      // A key frame without a structure describes a single layer.
      return .drop
    }
    guard let place = bases.firstIndex(where: { $0.number == base }) else { return .stash }
    note(picture, place)
    return flatten(&frame, picture, descriptor)
  }

  private mutating func begin(_ base: Int64, _ structure: VP9ScalabilityStructure, at picture: Int64) {
    let group = structure.pictures.isEmpty ? Self.plainGroup : structure.pictures
    bases.removeAll { $0.number == base }
    let place = bases.firstIndex { $0.number > base } ?? bases.count
    bases.insert(Base(number: base, start: picture, group: group, last: picture), at: place)
  }

  private mutating func copy(_ place: Int, to base: Int64, last: Int64) -> Int {
    if let existing = bases.firstIndex(where: { $0.number == base }) { return existing }
    var next = bases[place]
    next.number = base
    bases.insert(next, at: place + 1)
    return place + 1
  }

  /// Notes a picture, and those between it and the last one as missing.
  private mutating func note(_ picture: Int64, _ place: Int) {
    let last = bases[place].last
    if picture > last {
      for id in max(last + 1, picture - 100)..<picture {
        missing[Int(bases[place].picture(id).temporalLayer)].insert(id)
      }
      bases[place].last = picture
    }
    missing[Int(bases[place].picture(picture).temporalLayer)].remove(picture)
  }

  /// Returns whether a picture of a lower layer between this one and one of its references has not arrived. It might
  /// have been a point to switch up.
  private func isMissing(_ id: Int64, _ place: Int) -> Bool {
    let picture = bases[place].picture(id)
    for index in 0..<picture.references.count {
      let reference = id - Int64(picture.references[index])
      for layer in 0..<Int(picture.temporalLayer) where missing[layer].contains(above: reference - 1, below: id) {
        return true
      }
    }
    return false
  }

  /// Gives the frame and its references numbers that tell spatial layers apart.
  private func flatten(
    _ frame: inout EncodedFrame, _ picture: Int64, _ descriptor: VP9PayloadDescriptor
  ) -> ReferenceDecision {
    let spatial = Int64(descriptor.layer?.spatial ?? 0)
    frame.references.update { $0 * Self.layerCount + spatial }
    frame.id = picture * Self.layerCount + spatial
    if descriptor.layer?.isInterLayerPredicted ?? false {
      guard spatial > 0, frame.references.append(frame.id - 1) else { return .drop }
    }
    return .handOff
  }
}
