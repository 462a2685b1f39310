extension DependencyDescriptor {
  /// How a template differs from a frame.
  private struct Match {
    var template: Int
    var decodeTargetsDiffer: Bool
    var frameDistancesDiffer: Bool
    var chainsDiffer: Bool
    /// The bits of the fields that differ.
    var cost: Int

    var differs: Bool { cost > 0 }
  }

  /// Returns the bytes of the extension element, with the template that needs the fewest.
  ///
  /// - Parameter current: the structure of the stream; the attached one goes before it.
  /// - Returns: nil when the structure is not valid or lacks a template of the frame's layer, or a distance does not
  ///   fit.
  package func encoded(structure current: FrameDependencyStructure?) -> [UInt8]? {
    guard let structure = structure ?? current, self.structure?.isValid ?? true,
      dependencies.decodeTargets.count == structure.decodeTargetCount,
      dependencies.chainDistances.count == structure.chainCount,
      dependencies.frameDistances.allSatisfy({ (1...4_096).contains($0) }),
      dependencies.chainDistances.allSatisfy({ (0...255).contains($0) }), let match = bestMatch(structure)
    else { return nil }
    var writer = BitWriter()
    writer.write(isFirstPacket)
    writer.write(isLastPacket)
    writer.write((match.template + Int(structure.templateOffset)) % FrameDependencyStructure.maximumTemplates, 6)
    writer.write(Int(frameNumber), 16)
    let all = UInt32.max >> UInt32(32 - structure.decodeTargetCount)
    // An attached structure activates all targets by itself.
    let writesActive = activeDecodeTargets.map { self.structure == nil || $0 != all } ?? false
    guard self.structure != nil || writesActive || match.differs else { return writer.bytes }
    writer.write(self.structure != nil)
    writer.write(writesActive)
    writer.write(match.decodeTargetsDiffer)
    writer.write(match.frameDistancesDiffer)
    writer.write(match.chainsDiffer)
    self.structure?.write(into: &writer)
    if writesActive { writer.write(Int(activeDecodeTargets ?? 0), structure.decodeTargetCount) }
    if match.decodeTargetsDiffer {
      for target in dependencies.decodeTargets { writer.write(Int(target.rawValue), 2) }
    }
    if match.frameDistancesDiffer {
      for distance in dependencies.frameDistances {
        let size = Self.size(of: distance)
        writer.write(size, 2)
        writer.write(distance - 1, 4 * size)
      }
      writer.write(0, 2)
    }
    if match.chainsDiffer {
      for distance in dependencies.chainDistances { writer.write(distance, 8) }
    }
    return writer.bytes
  }

  /// Returns the size of a distance in units of four bits.
  private static func size(of distance: Int) -> Int { distance <= 16 ? 1 : distance <= 256 ? 2 : 3 }

  private func bestMatch(_ structure: FrameDependencyStructure) -> Match? {
    var best: Match?
    for (index, template) in structure.templates.enumerated()
    where template.spatialLayer == dependencies.spatialLayer && template.temporalLayer == dependencies.temporalLayer {
      var match = Match(
        template: index, decodeTargetsDiffer: template.decodeTargets != dependencies.decodeTargets,
        frameDistancesDiffer: template.frameDistances != dependencies.frameDistances,
        chainsDiffer: template.chainDistances != dependencies.chainDistances, cost: 0)
      if match.decodeTargetsDiffer { match.cost += 2 * structure.decodeTargetCount }
      if match.frameDistancesDiffer {
        match.cost += dependencies.frameDistances.reduce(2) { $0 + 2 + 4 * Self.size(of: $1) }
      }
      if match.chainsDiffer { match.cost += 8 * structure.chainCount }
      if match.cost < best?.cost ?? .max { best = match }
    }
    return best
  }
}

extension FrameDependencyStructure {
  fileprivate func write(into writer: inout BitWriter) {
    writer.write(Int(templateOffset), 6)
    writer.write(decodeTargetCount - 1, 5)
    for (previous, template) in zip(templates, templates.dropFirst()) {
      let isNewSpatialLayer = template.spatialLayer != previous.spatialLayer
      writer.write(isNewSpatialLayer ? 2 : template.temporalLayer != previous.temporalLayer ? 1 : 0, 2)
    }
    writer.write(3, 2)
    for template in templates {
      for target in template.decodeTargets { writer.write(Int(target.rawValue), 2) }
    }
    for template in templates {
      for distance in template.frameDistances { writer.write(1 << 4 | (distance - 1), 5) }
      writer.write(false)
    }
    writer.write(chainCount, below: decodeTargetCount + 1)
    if chainCount > 0 {
      for chain in protectingChains { writer.write(chain, below: chainCount) }
      for template in templates {
        for distance in template.chainDistances { writer.write(distance, 4) }
      }
    }
    writer.write(!resolutions.isEmpty)
    for resolution in resolutions {
      writer.write(resolution.width - 1, 16)
      writer.write(resolution.height - 1, 16)
    }
  }
}
