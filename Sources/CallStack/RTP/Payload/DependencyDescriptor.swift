import CallCore

/// The Dependency Descriptor header extension (AV1 RTP specification appendix A): the place of a packet in its frame
/// and of the frame in its stream, readable without the payload.
package struct DependencyDescriptor: Hashable, Sendable {
  package var isFirstPacket: Bool
  package var isLastPacket: Bool
  package var frameNumber: UInt16
  package var dependencies: FrameDependencies
  /// The structure that this frame begins; it replaces the one before.
  package var structure: FrameDependencyStructure?
  /// The decode targets that are sent, the first in the lowest bit; nil when nothing changes.
  package var activeDecodeTargets: UInt32?
  /// The frame's resolution by the structure; not written.
  package private(set) var resolution: FrameDependencyStructure.Resolution?

  package init(
    isFirstPacket: Bool, isLastPacket: Bool, frameNumber: UInt16, dependencies: FrameDependencies,
    structure: FrameDependencyStructure? = nil, activeDecodeTargets: UInt32? = nil
  ) {
    self.isFirstPacket = isFirstPacket
    self.isLastPacket = isLastPacket
    self.frameNumber = frameNumber
    self.dependencies = dependencies
    self.structure = structure
    self.activeDecodeTargets = activeDecodeTargets
  }

  /// The result of reading an extension.
  package enum Reading: Sendable {
    case descriptor(DependencyDescriptor)
    /// The extension needs a structure that has not arrived: only a key frame helps.
    case missingStructure
    case malformed
  }

  /// Reads an extension element.
  ///
  /// - Parameter structure: the structure of the last key frame; nil before the first.
  package static func read(_ element: RawSpan, structure: FrameDependencyStructure?) -> Reading {
    guard let first = element.byte(at: 0), let number = element.bigEndian(UInt16.self, at: 1) else { return .malformed }
    var descriptor = DependencyDescriptor(
      isFirstPacket: first & 0x80 != 0, isLastPacket: first & 0x40 != 0, frameNumber: number,
      dependencies: FrameDependencies())
    var reader = BitReader(element.byteCount > 3 ? element.copied : [])
    if element.byteCount > 3 { reader.skip(24) }
    let flags = element.byteCount > 3 ? reader.bits(5) : 0
    if flags & 0x10 != 0 {
      guard let attached = FrameDependencyStructure(&reader) else { return .malformed }
      descriptor.structure = attached
      descriptor.activeDecodeTargets = UInt32.max >> UInt32(32 - attached.decodeTargetCount)
    }
    guard let current = descriptor.structure ?? structure else { return .missingStructure }
    if flags & 0x08 != 0 { descriptor.activeDecodeTargets = reader.bits(current.decodeTargetCount) }
    let template = (Int(first & 0x3F) + FrameDependencyStructure.maximumTemplates - Int(current.templateOffset)) % 64
    guard template < current.templates.count else { return .malformed }
    descriptor.dependencies = current.templates[template]
    if flags & 0x04 != 0 { descriptor.dependencies.decodeTargets = reader.decodeTargets(current.decodeTargetCount) }
    if flags & 0x02 != 0 { descriptor.dependencies.frameDistances = reader.frameDistances() }
    if flags & 0x01 != 0 {
      descriptor.dependencies.chainDistances = (0..<current.chainCount).map { _ in Int(reader.bits(8)) }
    }
    guard reader.isValid else { return .malformed }
    let layer = Int(descriptor.dependencies.spatialLayer)
    if layer < current.resolutions.count { descriptor.resolution = current.resolutions[layer] }
    return .descriptor(descriptor)
  }
}

extension BitReader {
  fileprivate mutating func decodeTargets(_ count: Int) -> [DecodeTargetIndication] {
    (0..<count).map { _ in DecodeTargetIndication(rawValue: UInt8(bits(2))) ?? .notPresent }
  }

  fileprivate mutating func frameDistances() -> [Int] {
    var distances: [Int] = []
    while isValid {
      let size = Int(bits(2))
      if size == 0 { break }
      distances.append(Int(bits(4 * size)) + 1)
    }
    return distances
  }
}

extension FrameDependencyStructure {
  fileprivate init?(_ reader: inout BitReader) {
    let offset = UInt8(reader.bits(6))
    let targets = Int(reader.bits(5)) + 1
    guard var templates = Self.layers(&reader) else { return nil }
    for index in templates.indices { templates[index].decodeTargets = reader.decodeTargets(targets) }
    for index in templates.indices {
      while reader.flag() { templates[index].frameDistances.append(Int(reader.bits(4)) + 1) }
    }
    let chains = reader.nonSymmetric(below: targets + 1)
    var protecting: [Int] = []
    if chains > 0 {
      protecting = (0..<targets).map { _ in reader.nonSymmetric(below: chains) }
      for index in templates.indices {
        templates[index].chainDistances = (0..<chains).map { _ in Int(reader.bits(4)) }
      }
    }
    var resolutions: [Resolution] = []
    if reader.flag() {
      for _ in 0...(templates.last?.spatialLayer ?? 0) {
        resolutions.append(Resolution(width: Int(reader.bits(16)) + 1, height: Int(reader.bits(16)) + 1))
      }
    }
    self.init(
      templateOffset: offset, decodeTargetCount: targets, chainCount: chains, protectingChains: protecting,
      templates: templates, resolutions: resolutions)
    guard reader.isValid, isValid else { return nil }
  }

  private static func layers(_ reader: inout BitReader) -> [FrameDependencies]? {
    var templates: [FrameDependencies] = []
    var (spatial, temporal) = (0, 0)
    while reader.isValid {
      guard templates.count < maximumTemplates, spatial < maximumSpatialLayers, temporal < maximumTemporalLayers else {
        return nil
      }
      templates.append(FrameDependencies(spatialLayer: UInt8(spatial), temporalLayer: UInt8(temporal)))
      switch reader.bits(2) {
      case 1: temporal += 1
      case 2: (spatial, temporal) = (spatial + 1, 0)
      case 3: return reader.isValid ? templates : nil
      default: break
      }
    }
    return nil
  }
}
