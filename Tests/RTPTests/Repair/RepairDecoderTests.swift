import CallCore
import RTP
import Testing

@Suite struct RepairDecoderTests {
  private var decoder: RepairDecoder { RepairDecoder(format: .ulpfec, ssrc: RepairSamples.ssrc) }

  @Test func `repair packets that are not needed are counted`() {
    var decoder = decoder
    let samples = RepairSamples(4)
    for packet in samples.packets { decoder.receive(media: packet) }
    for repair in samples.repairs(.ulpfec, factor: 128) { decoder.receive(repair: repair) }
    #expect(decoder.repairCount == 2 && decoder.unusedCount == 2 && decoder.recoveredCount == 0)
    #expect(decoder.pendingCount == 0)
  }

  @Test func `a packet that arrives late completes a repair packet`() {
    var decoder = decoder
    let samples = RepairSamples(5)
    let repairs = samples.repairs(.ulpfec, factor: 1)
    for packet in samples.packets[..<3] { decoder.receive(media: packet) }
    decoder.receive(repair: repairs[0])
    #expect(decoder.takeAll().isEmpty && decoder.pendingCount == 1)
    decoder.receive(media: samples.packets[4])
    #expect(decoder.takeAll() == [samples.packets[3]])
    // The original of a recovered packet changes nothing.
    decoder.receive(media: samples.packets[3])
    #expect(decoder.takeAll().isEmpty && decoder.recoveredCount == 1)
  }

  @Test func `a repair packet before any media is discarded`() {
    var decoder = decoder
    decoder.receive(repair: RepairSamples(3).repairs(.ulpfec, factor: 1)[0])
    #expect(decoder.discardedCount == 1 && decoder.pendingCount == 0)
  }

  @Test func `packets of other streams are not used`() {
    var decoder = RepairDecoder(format: .flexFECDraft, ssrc: 7)
    let samples = RepairSamples(3)
    for packet in samples.packets { decoder.receive(media: packet) }
    for repair in samples.repairs(.flexFECDraft, factor: 128) { decoder.receive(repair: repair) }
    #expect(decoder.memory == 0 && decoder.refusedCount == 2)
  }

  @Test func `what is behind the window is discarded`() {
    var decoder = decoder
    let samples = RepairSamples(600, first: 0)
    let old = RepairSamples(5, first: 0).repairs(.ulpfec, factor: 1)
    for packet in samples.packets { decoder.receive(media: packet) }
    decoder.receive(repair: old[0])
    #expect(decoder.discardedCount == 1)
    #expect(decoder.memory <= RepairDecoder.windowSize * 80)
  }

  @Test func `a repair packet that waits is discarded when the window passes`() {
    var decoder = decoder
    let samples = RepairSamples(400, first: 65_400)
    decoder.receive(media: samples.packets[0])
    decoder.receive(repair: RepairSamples(5, first: 65_400).repairs(.ulpfec, factor: 1)[0])
    #expect(decoder.pendingCount == 1)
    for packet in samples.packets[5...] { decoder.receive(media: packet) }
    #expect(decoder.pendingCount == 0 && decoder.discardedCount == 1)
  }

  @Test func `a stream that begins anew is followed at its second packet`() {
    var decoder = decoder
    for packet in RepairSamples(5, first: 100).packets { decoder.receive(media: packet) }
    let samples = RepairSamples(6, first: 30_000)
    for packet in samples.packets[..<5] { decoder.receive(media: packet) }
    decoder.receive(repair: samples.repairs(.ulpfec, factor: 1)[0])
    // The first packet after the step was not kept, so two are missing.
    #expect(decoder.takeAll().isEmpty)
    decoder.receive(media: samples.packets[0])
    #expect(decoder.takeAll() == [samples.packets[5]])
  }

  @Test func `a parity that does not cover the whole packet recovers nothing`() {
    var decoder = decoder
    let samples = RepairSamples(3, largest: 30)
    var repair = samples.repairs(.ulpfec, factor: 1)[0]
    for packet in samples.packets[..<2] { decoder.receive(media: packet) }
    // The length recovery.
    repair[8] ^= 0x40
    decoder.receive(repair: repair)
    #expect(decoder.takeAll().isEmpty && decoder.refusedCount == 1)
  }

  @Test func `a parity shorter than the packets recovers nothing, and does not grow by those that arrive`() {
    var decoder = decoder
    let samples = RepairSamples(3, seed: 2, largest: 200)
    let repair = samples.repairs(.ulpfec, factor: 1)[0]
    // Four bytes of parity are left, and the protection length says so.
    var cut = Array(repair[..<18])
    (cut[10], cut[11]) = (0, 4)
    for packet in samples.packets[..<2] { decoder.receive(media: packet) }
    decoder.receive(repair: cut)
    #expect(samples.packets[2].count > 16 && samples.packets[0].count > samples.packets[2].count)
    #expect(decoder.takeAll().isEmpty && decoder.refusedCount == 1)
  }

  @Test func `extensions that change after the parity was made are zeros in a recovered packet`() {
    func packet(_ number: UInt16, transportNumber: UInt8) -> [UInt8] {
      var extensions = RTPHeaderExtensions()
      let (level, transport): ([UInt8], [UInt8]) = ([0x85], [0, transportNumber])
      extensions.append(id: 1, bytes: level.span.bytes)
      extensions.append(id: 3, bytes: transport.span.bytes)
      let header = RTPHeader(payloadType: 96, sequenceNumber: number, timestamp: 7, ssrc: RepairSamples.ssrc)
      return written {
        _ = header.write(into: &$0, extensions: extensions)
        $0.append(UInt8(truncatingIfNeeded: number))
      }
    }
    var encoder = RepairEncoder(format: .ulpfec)
    encoder.protection = Protection(keyFactor: 1, deltaFactor: 1, maximumFrames: 1)
    encoder.unprotectedExtensions = [3]
    for number in 10...12 as ClosedRange<UInt16> {
      let bytes = packet(number, transportNumber: 0)
      encoder.add(bytes.span.bytes, isKeyFrame: false, endsFrame: number == 12)
    }
    var decoder = decoder
    decoder.unprotectedExtensions = [3]
    // The transport-wide numbers were written later.
    for number in [10, 12] as [UInt16] { decoder.receive(media: packet(number, transportNumber: 99)) }
    if let repair = encoder.next() { decoder.receive(repair: repair.encoded(.ulpfec)) }
    #expect(decoder.takeAll() == [packet(11, transportNumber: 0)])
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `hostile packets never trap, and memory stays bounded`(seed: UInt64) {
    var random = RandomSource(seed: seed).stream("hostile")
    let format = RepairFormat.allCases[Int(seed % 3)]
    var decoder = RepairDecoder(format: format, ssrc: RepairSamples.ssrc)
    var first = UInt16(truncatingIfNeeded: random.next())
    for _ in 0..<60 {
      let samples = RepairSamples(1 + Int(random.uniform(below: 48)), first: first, seed: random.next(), gaps: true)
      if random.chance(0.2) { first = UInt16(truncatingIfNeeded: random.next()) } else { first &+= 64 }
      var packets = samples.packets.map { (false, $0) }
      packets += samples.repairs(format, factor: UInt8(random.uniform(below: 256))).map { (true, $0) }
      for (isRepair, packet) in packets where random.chance(0.7) {
        var bytes = packet
        for _ in 0..<(random.chance(0.5) ? 0 : 1 + Int(random.uniform(below: 6))) where !bytes.isEmpty {
          let limit = random.chance(0.7) ? min(24, bytes.count) : bytes.count
          bytes[Int(random.uniform(below: UInt64(limit)))] = UInt8(truncatingIfNeeded: random.next())
        }
        if random.chance(0.1) { bytes.removeLast(Int(random.uniform(below: UInt64(bytes.count + 1)))) }
        if random.chance(0.05) { bytes = random.bytes(Int(random.uniform(below: 80))) }
        if random.chance(0.02) { bytes += random.bytes(3_000) }
        if isRepair != random.chance(0.05) {
          decoder.receive(repair: bytes)
        } else {
          decoder.receive(media: bytes)
        }
        if random.chance(0.5) { _ = decoder.next() }
      }
      #expect(decoder.pendingCount <= RepairDecoder.pendingLimit)
      #expect(
        decoder.memory <= (RepairDecoder.windowSize + RepairDecoder.pendingLimit) * RepairDecoder.packetLimit)
    }
    for packet in decoder.takeAll() { #expect(RTPPacket(bytes: packet)?.header.ssrc == RepairSamples.ssrc) }
  }
}
