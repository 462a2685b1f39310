import CallCore
import RTP
import Testing

@Suite struct DependencyDescriptorTests {
  /// Packs groups of digits as the syntax tables of the AV1 RTP specification list them, for bytes made by hand.
  func packed(_ fields: String) -> [UInt8] {
    var digits = fields.filter { $0 == "0" || $0 == "1" }
    while digits.count % 8 != 0 { digits += "0" }
    return stride(from: 0, to: digits.count, by: 8).compactMap { UInt8(digits.dropFirst($0).prefix(8), radix: 2) }
  }

  func read(_ bytes: [UInt8], _ structure: FrameDependencyStructure? = nil) -> DependencyDescriptor? {
    if case .descriptor(let descriptor) = DependencyDescriptor.read(bytes.span.bytes, structure: structure) {
      return descriptor
    }
    return nil
  }

  /// One spatial and two temporal layers, with a chain (AV1 RTP specification section A.9, L1T2).
  static let structure = FrameDependencyStructure(
    templateOffset: 5, decodeTargetCount: 2, chainCount: 1, protectingChains: [0, 0],
    templates: [
      FrameDependencies(decodeTargets: [.switchPoint, .switchPoint], chainDistances: [0]),
      FrameDependencies(decodeTargets: [.switchPoint, .switchPoint], frameDistances: [2], chainDistances: [2]),
      FrameDependencies(
        temporalLayer: 1, decodeTargets: [.notPresent, .discardable], frameDistances: [1], chainDistances: [1]),
    ], resolutions: [.init(width: 640, height: 360)])

  static let structureFields = """
    000101 00001
    00 01 11
    10 10  10 10  00 01
    0  1 0001 0  1 0000 0
    10
    0000 0010 0001
    1 0000001001111111 0000000101100111
    """

  @Test func `a key frame's structure is laid out as the specification lists it`() throws {
    // Chains: ns(3) of 1 is the two bits 10; protected_by is ns(1), no bits.
    let bytes = packed("1 0 000101 0000000000000111  1 0 0 0 0" + Self.structureFields)
    let descriptor = try #require(read(bytes))
    #expect(descriptor.isFirstPacket && !descriptor.isLastPacket)
    #expect(descriptor.frameNumber == 7)
    #expect(descriptor.structure == Self.structure)
    #expect(descriptor.dependencies == Self.structure.templates[0])
    #expect(descriptor.activeDecodeTargets == 3)
    #expect(descriptor.resolution == .init(width: 640, height: 360))
    #expect(descriptor.encoded(structure: nil) == bytes)
  }

  @Test func `a frame like its template has three bytes`() throws {
    let bytes: [UInt8] = [0xC0 | 7, 0x01, 0x00]
    let descriptor = try #require(read(bytes, Self.structure))
    #expect(descriptor.dependencies == Self.structure.templates[2])
    #expect(descriptor.frameNumber == 256)
    #expect(descriptor.encoded(structure: Self.structure) == bytes)
  }

  @Test func `a frame unlike its template gives its own fields`() throws {
    // Decode targets 11 00; distances 3, 17 and 257 in one, two and three nibbles; the chain 200.
    let bytes = packed(
      "0 1 000110 0000000000001000  0 1 1 1 1  01  11 00  01 0010 10 00010000 11 000100000000 00  11001000")
    let descriptor = try #require(read(bytes, Self.structure))
    #expect(descriptor.dependencies.decodeTargets == [.required, .notPresent])
    #expect(descriptor.dependencies.frameDistances == [3, 17, 257])
    #expect(descriptor.dependencies.chainDistances == [200])
    #expect(descriptor.activeDecodeTargets == 1)
    // A writer may choose any template of the layer; the first one that costs least.
    let again = try #require(descriptor.encoded(structure: Self.structure))
    #expect(read(again, Self.structure) == descriptor)
  }

  @Test func `a descriptor before any structure asks for one`() {
    let (whole, cut): ([UInt8], [UInt8]) = ([0x80, 0, 1], [0x80, 0])
    guard case .missingStructure = DependencyDescriptor.read(whole.span.bytes, structure: nil) else {
      Issue.record("a descriptor without a structure was read")
      return
    }
    guard case .malformed = DependencyDescriptor.read(cut.span.bytes, structure: nil) else {
      Issue.record("two bytes were read")
      return
    }
  }

  @Test func `a template that the structure lacks is refused`() {
    #expect(read([8, 0, 1], Self.structure) == nil)
    #expect(read([4, 0, 1], Self.structure) == nil)
  }

  @Test func `templates are numbered modulo 64`() {
    var structure = Self.structure
    structure.templateOffset = 63
    #expect(read([1, 0, 1], structure)?.dependencies == structure.templates[2])
  }

  @Test func `a structure cut anywhere is malformed`() {
    let bytes = packed("1 0 000101 0000000000000111  1 0 0 0 0" + Self.structureFields)
    for count in 4..<bytes.count { #expect(read(Array(bytes[..<count])) == nil) }
  }

  @Test func `any structure comes back as written`() throws {
    var random = RandomSource(seed: 3).stream("structures")
    for _ in 0..<400 {
      let structure = Self.generate(&random)
      let template = structure.templates[Int(random.uniform(below: UInt64(structure.templates.count)))]
      var descriptor = DependencyDescriptor(
        isFirstPacket: random.chance(0.5), isLastPacket: random.chance(0.5), frameNumber: UInt16(random.next() >> 48),
        dependencies: template, structure: structure,
        activeDecodeTargets: UInt32.max >> UInt32(32 - structure.decodeTargetCount))
      let bytes = try #require(descriptor.encoded(structure: nil))
      let first = try #require(read(bytes))
      #expect(first.structure == structure)
      #expect(first.dependencies == template)
      descriptor.structure = nil
      descriptor.activeDecodeTargets = random.chance(0.5) ? 1 : nil
      if random.chance(0.5) { descriptor.dependencies.frameDistances = [Int(random.uniform(in: 1...4_096))] }
      let delta = try #require(descriptor.encoded(structure: structure))
      #expect(read(delta, structure)?.dependencies == descriptor.dependencies)
      #expect(read(delta, structure)?.activeDecodeTargets == descriptor.activeDecodeTargets)
    }
  }

  static func generate(_ random: inout RandomStream) -> FrameDependencyStructure {
    let targets = Int(random.uniform(in: 1...32))
    let chains = Int(random.uniform(in: 0...Int64(targets)))
    var templates: [FrameDependencies] = []
    var (spatial, temporal) = (0, 0)
    for _ in 0..<random.uniform(in: 1...64) {
      var template = FrameDependencies(spatialLayer: UInt8(spatial), temporalLayer: UInt8(temporal))
      for _ in 0..<targets {
        template.decodeTargets.append(DecodeTargetIndication(rawValue: UInt8(random.uniform(below: 4))) ?? .required)
      }
      for _ in 0..<random.uniform(below: 4) { template.frameDistances.append(Int(random.uniform(in: 1...16))) }
      for _ in 0..<chains { template.chainDistances.append(Int(random.uniform(in: 0...15))) }
      templates.append(template)
      switch random.uniform(below: 4) {
      case 0 where temporal < 7: temporal += 1
      case 1 where spatial < 3: (spatial, temporal) = (spatial + 1, 0)
      default: break
      }
    }
    var resolutions: [FrameDependencyStructure.Resolution] = []
    if random.chance(0.5), let last = templates.last {
      resolutions = (0...last.spatialLayer).map { _ in
        .init(width: Int(random.uniform(in: 1...65_536)), height: Int(random.uniform(in: 1...65_536)))
      }
    }
    return FrameDependencyStructure(
      templateOffset: UInt8(random.uniform(below: 64)), decodeTargetCount: targets, chainCount: chains,
      protectingChains: chains == 0 ? [] : (0..<targets).map { _ in Int(random.uniform(below: UInt64(chains))) },
      templates: templates, resolutions: resolutions)
  }

  @Test func `what the wire cannot express is not written`() {
    var descriptor = DependencyDescriptor(
      isFirstPacket: true, isLastPacket: true, frameNumber: 1, dependencies: Self.structure.templates[1])
    #expect(descriptor.encoded(structure: nil) == nil)
    descriptor.dependencies.frameDistances = [4_097]
    #expect(descriptor.encoded(structure: Self.structure) == nil)
    descriptor.dependencies.frameDistances = [4_096]
    #expect(descriptor.encoded(structure: Self.structure) != nil)
    descriptor.dependencies.spatialLayer = 1
    #expect(descriptor.encoded(structure: Self.structure) == nil)
  }
}
