/// The role of a frame for a decode target (AV1 RTP specification section A.3).
package enum DecodeTargetIndication: UInt8, Hashable, Sendable {
  /// The frame does not belong to the target.
  case notPresent = 0
  /// No other frame of the target refers to it.
  case discardable = 1
  /// All later frames of the target can be decoded after it.
  case switchPoint = 2
  case required = 3
}

/// The layer and the dependencies of a frame (AV1 RTP specification section A.8).
package struct FrameDependencies: Hashable, Sendable {
  package var spatialLayer: UInt8
  package var temporalLayer: UInt8
  /// The frame's role for each decode target.
  package var decodeTargets: [DecodeTargetIndication]
  /// The distances in frame numbers to the frames it refers to, each 1...4096, or 1...16 in a template.
  package var frameDistances: [Int]
  /// The distance to the previous frame of each chain, 0...255, or 0...15 in a template; 0 for none.
  package var chainDistances: [Int]

  package init(
    spatialLayer: UInt8 = 0, temporalLayer: UInt8 = 0, decodeTargets: [DecodeTargetIndication] = [],
    frameDistances: [Int] = [], chainDistances: [Int] = []
  ) {
    self.spatialLayer = spatialLayer
    self.temporalLayer = temporalLayer
    self.decodeTargets = decodeTargets
    self.frameDistances = frameDistances
    self.chainDistances = chainDistances
  }
}

/// The template dependency structure: what the frames of a coded video sequence can be like (AV1 RTP specification
/// section A.8.3). A key frame carries it.
package struct FrameDependencyStructure: Hashable, Sendable {
  /// A size in pixels, each side 1...65536.
  package struct Resolution: Hashable, Sendable {
    package var width: Int
    package var height: Int

    package init(width: Int, height: Int) {
      self.width = width
      self.height = height
    }
  }

  package static let maximumTemplates = 64
  package static let maximumDecodeTargets = 32
  static let maximumSpatialLayers = 4
  static let maximumTemporalLayers = 8

  /// The number of the first template, in six bits.
  package var templateOffset: UInt8
  /// The number of decode targets, 1...32.
  package var decodeTargetCount: Int
  /// The chain that protects each decode target; empty without chains.
  package var protectingChains: [Int]
  package var chainCount: Int
  /// The templates, ordered by spatial and then by temporal layer.
  package var templates: [FrameDependencies]
  /// The resolution of each spatial layer, or nothing.
  package var resolutions: [Resolution]

  package init(
    templateOffset: UInt8 = 0, decodeTargetCount: Int, chainCount: Int = 0, protectingChains: [Int] = [],
    templates: [FrameDependencies], resolutions: [Resolution] = []
  ) {
    self.templateOffset = templateOffset & 63
    self.decodeTargetCount = decodeTargetCount
    self.chainCount = chainCount
    self.protectingChains = protectingChains
    self.templates = templates
    self.resolutions = resolutions
  }

  /// Whether the wire format can express the structure.
  package var isValid: Bool {
    guard (1...Self.maximumDecodeTargets).contains(decodeTargetCount), (0...decodeTargetCount).contains(chainCount),
      protectingChains.count == (chainCount == 0 ? 0 : decodeTargetCount),
      protectingChains.allSatisfy({ (0..<chainCount).contains($0) }),
      (1...Self.maximumTemplates).contains(templates.count),
      resolutions.isEmpty || resolutions.count == Int(templates[templates.count - 1].spatialLayer) + 1,
      resolutions.allSatisfy({ (1...65_536).contains($0.width) && (1...65_536).contains($0.height) })
    else { return false }
    var (spatial, temporal) = (UInt8(0), UInt8(0))
    for (index, template) in templates.enumerated() {
      let follows =
        template.spatialLayer == spatial
        && (template.temporalLayer == temporal || (index > 0 && template.temporalLayer == temporal + 1))
        || (index > 0 && template.spatialLayer == spatial + 1 && template.temporalLayer == 0)
      guard follows, template.spatialLayer < Self.maximumSpatialLayers,
        template.temporalLayer < Self.maximumTemporalLayers, template.decodeTargets.count == decodeTargetCount,
        template.chainDistances.count == chainCount, template.chainDistances.allSatisfy({ (0...15).contains($0) }),
        template.frameDistances.allSatisfy({ (1...16).contains($0) })
      else { return false }
      (spatial, temporal) = (template.spatialLayer, template.temporalLayer)
    }
    return true
  }
}
