internal import CallCore

/// The cryptographic context of one direction of one transport (RFC 3711 section 3.2).
///
/// Packets are changed in place in the caller's memory, without allocation. Every synchronisation source has its own
/// rollover counter and replay window, created with its first packet. A packet that fails authentication changes
/// nothing.
///
/// Of the received sources the ``sourceLimit`` latest are stored: otherwise a peer with the keys could make us store one
/// for every SSRC, and search all of them for every packet. A forgotten source begins anew, without a rollover counter.
///
/// RFC 3711 section 3.3.1 limits a receiver: it must receive one packet from before a source's sequence number first
/// wraps, or it cannot know the rollover counter. Senders therefore start below 2^15.
package struct SRTPContext: ~Copyable {
  package enum Direction: Sendable { case sending, receiving }

  /// The maximum number of stored received sources.
  package static let sourceLimit = 64

  package let profile: SRTPProfile
  package let direction: Direction
  private let rtp: SRTPSessionKey
  private let rtcp: SRTPSessionKey
  private var sources: [SRTPSource] = []
  private var heardCount: UInt64 = 0

  /// Creates a context.
  ///
  /// - Throws: ``SRTPError/invalidKey`` when the lengths do not fit the profile.
  package init(_ direction: Direction, profile: SRTPProfile, key: SRTPMasterKey) throws(SRTPError) {
    guard key.key.count == profile.keyLength, key.salt.count == profile.saltLength else { throw .invalidKey }
    self.profile = profile
    self.direction = direction
    rtp = SRTPSessionKey(.rtp, profile, key, direction)
    rtcp = SRTPSessionKey(.rtcp, profile, key, direction)
  }

  // MARK: RTP

  /// Encrypts and authenticates the RTP packet that fills `packet`, which grows by ``SRTPProfile/rtpOverhead``.
  ///
  /// Without RTX a NACKed packet is sent again with the same index and content (RFC 4588 section 7).
  package mutating func protectRTP(_ packet: inout OutputSpan<UInt8>) throws(SRTPError) {
    guard let clear = PacketShape.rtpHeaderSize(packet.span.bytes, trailer: 0),
      let (ssrc, sequence) = Self.identity(ofRTP: packet.span.bytes)
    else { throw .malformed }
    guard packet.freeCapacity >= profile.rtpOverhead else { throw .noRoom }
    let place = place(of: ssrc) ?? add(ssrc)
    var index = sources[place].rtpIndex(of: sequence)
    if Defect.oldNumberUnderNewRollover.isPlanted {
      index = UInt64(sources[place].rolloverCounter ?? 0) << 16 | UInt64(sequence)
    }
    guard index <= SRTPSource.highestRTPIndex else { throw .keyExhausted }
    guard sources[place].rtp.verdict(on: index) != .tooOld else { throw .tooOld }
    sources[place].rtp.note(index)
    packet.withUnsafeMutableBufferPointer { buffer, count in
      let (whole, tag) = Self.split(buffer, at: count)
      switch profile {
      case .aeadAES128GCM, .aeadAES256GCM: rtp.seal(whole, after: clear, suffix: nil, ssrc, index, into: tag)
      case .aes128CMHMACSHA1_80:
        rtp.encrypt(whole, after: clear, ssrc, index)
        rtp.authenticate(whole, suffix: UInt32(truncatingIfNeeded: index >> 16), into: tag)
      }
      count += profile.rtpOverhead
    }
  }

  /// Authenticates and decrypts the SRTP packet that fills `packet`, which shrinks to the RTP packet.
  ///
  /// - Throws: the reason to drop the packet; its bytes are then unspecified.
  package mutating func unprotectRTP(_ packet: inout OutputSpan<UInt8>) throws(SRTPError) {
    guard let clear = PacketShape.rtpHeaderSize(packet.span.bytes, trailer: profile.rtpOverhead),
      let (ssrc, sequence) = Self.identity(ofRTP: packet.span.bytes)
    else { throw .malformed }
    let place = place(of: ssrc)
    let index = place.map { sources[$0].rtpIndex(of: sequence) } ?? UInt64(sequence)
    guard index <= SRTPSource.highestRTPIndex else { throw .keyExhausted }
    try Self.refuse(place.map { sources[$0].rtp.verdict(on: index) } ?? .new)
    let isAuthentic = packet.withUnsafeMutableBufferPointer { buffer, count in
      let (whole, tag) = Self.split(buffer, at: count - profile.rtpOverhead)
      count = whole.count
      switch profile {
      case .aeadAES128GCM, .aeadAES256GCM:
        return rtp.open(whole, after: clear, suffix: nil, ssrc, index, tag: tag)
      case .aes128CMHMACSHA1_80:
        guard rtp.isAuthentic(whole, suffix: UInt32(truncatingIfNeeded: index >> 16), tag: tag) else { return false }
        rtp.encrypt(whole, after: clear, ssrc, index)
        return true
      }
    }
    guard isAuthentic else { throw .authenticationFailed }
    let heard = hear(ssrc, at: place)
    sources[heard].rtp.note(index)
  }

  private static func identity(ofRTP packet: RawSpan) -> (ssrc: UInt32, sequence: UInt16)? {
    guard let sequence = packet.bigEndian(UInt16.self, at: 2), let ssrc = packet.bigEndian(UInt32.self, at: 8) else {
      return nil
    }
    return (ssrc, sequence)
  }

  // MARK: RTCP

  private static let encryptionFlag: UInt32 = 1 << 31
  /// The size of the encryption flag with the SRTCP index.
  private static let indexSize = 4

  /// Encrypts and authenticates the RTCP packet that fills `packet`, which grows by ``SRTPProfile/rtcpOverhead``.
  package mutating func protectRTCP(_ packet: inout OutputSpan<UInt8>) throws(SRTPError) {
    guard PacketShape.isRTCP(packet.span.bytes, trailer: 0), let ssrc = packet.span.bytes.bigEndian(UInt32.self, at: 4)
    else { throw .malformed }
    guard packet.freeCapacity >= profile.rtcpOverhead else { throw .noRoom }
    let place = place(of: ssrc) ?? add(ssrc)
    // The first index is one, as libsrtp's and so every browser's is; RFC 3711 section 3.4 begins at zero.
    let index = (sources[place].rtcp.highest ?? 0) + 1
    guard index <= SRTPSource.highestRTCPIndex else { throw .keyExhausted }
    sources[place].rtcp.note(index)
    let word = UInt32(index) | Self.encryptionFlag
    packet.withUnsafeMutableBufferPointer { buffer, count in
      let (whole, end) = Self.split(buffer, at: count)
      let clear = PacketShape.rtcpHeaderSize
      // The tag comes before the index with an AEAD (RFC 7714 section 17), after it without.
      switch profile {
      case .aeadAES128GCM, .aeadAES256GCM:
        rtcp.seal(whole, after: clear, suffix: word, ssrc, index, into: end)
        Self.store(word, at: end + profile.rtpOverhead)
      case .aes128CMHMACSHA1_80:
        rtcp.encrypt(whole, after: clear, ssrc, index)
        rtcp.authenticate(whole, suffix: word, into: end + Self.indexSize)
        Self.store(word, at: end)
      }
      count += profile.rtcpOverhead
    }
  }

  /// Authenticates and decrypts the SRTCP packet that fills `packet`, which shrinks to the RTCP packet.
  ///
  /// - Throws: the reason to drop the packet; its bytes are then unspecified.
  package mutating func unprotectRTCP(_ packet: inout OutputSpan<UInt8>) throws(SRTPError) {
    let end = packet.count - profile.rtcpOverhead
    guard PacketShape.isRTCP(packet.span.bytes, trailer: profile.rtcpOverhead),
      let ssrc = packet.span.bytes.bigEndian(UInt32.self, at: 4),
      let word = packet.span.bytes.bigEndian(
        UInt32.self, at: profile.isAEAD ? end + profile.rtpOverhead : end)
    else { throw .malformed }
    let index = UInt64(word & ~Self.encryptionFlag)
    let place = place(of: ssrc)
    try Self.refuse(place.map { sources[$0].rtcp.verdict(on: index) } ?? .new)
    let isEncrypted = word & Self.encryptionFlag != 0
    let isAuthentic = packet.withUnsafeMutableBufferPointer { buffer, count in
      let (whole, trailer) = Self.split(buffer, at: end)
      // What is not encrypted is associated data (RFC 7714 section 17.3).
      let clear = isEncrypted ? PacketShape.rtcpHeaderSize : whole.count
      count = whole.count
      switch profile {
      case .aeadAES128GCM, .aeadAES256GCM:
        return rtcp.open(whole, after: clear, suffix: word, ssrc, index, tag: trailer)
      case .aes128CMHMACSHA1_80:
        guard rtcp.isAuthentic(whole, suffix: word, tag: trailer + Self.indexSize) else { return false }
        rtcp.encrypt(whole, after: clear, ssrc, index)
        return true
      }
    }
    guard isAuthentic else { throw .authenticationFailed }
    guard isEncrypted else { throw .unencrypted }
    let heard = hear(ssrc, at: place)
    sources[heard].rtcp.note(index)
  }

  // MARK: Sources

  /// The number of stored sources.
  package var sourceCount: Int { sources.count }

  /// Returns the number of times that the sequence number of `source` has wrapped, or nil before its first packet.
  package func rolloverCounter(of source: UInt32) -> UInt32? {
    place(of: source).flatMap { sources[$0].rolloverCounter }
  }

  /// Forgets `source`: its next packet starts a new rollover counter and replay window.
  ///
  /// - Throws: ``SRTPError/unknownSource``.
  package mutating func remove(source: UInt32) throws(SRTPError) {
    guard let place = place(of: source) else { throw .unknownSource }
    sources.remove(at: place)
  }

  private func place(of ssrc: UInt32) -> Int? { sources.firstIndex { $0.ssrc == ssrc } }

  private mutating func add(_ ssrc: UInt32) -> Int {
    sources.append(SRTPSource(ssrc))
    return sources.count - 1
  }

  /// Notes an authentic packet of a source, and forgets the least recently heard source beyond the limit.
  private mutating func hear(_ ssrc: UInt32, at known: Int?) -> Int {
    heardCount += 1
    var place = known
    if place == nil, sources.count == Self.sourceLimit,
      let oldest = sources.indices.min(by: { sources[$0].lastHeard < sources[$1].lastHeard })
    {
      sources[oldest] = SRTPSource(ssrc)
      place = oldest
    }
    let heard = place ?? add(ssrc)
    sources[heard].lastHeard = heardCount
    return heard
  }

  private static func refuse(_ verdict: ReplayWindow.Verdict) throws(SRTPError) {
    switch verdict {
    case .new: return
    case .repeated: throw .replayed
    case .tooOld: throw .tooOld
    }
  }

  // MARK: Memory

  private static func split(
    _ buffer: UnsafeMutableBufferPointer<UInt8>, at count: Int
  ) -> (packet: UnsafeMutableBufferPointer<UInt8>, rest: UnsafeMutablePointer<UInt8>) {
    (UnsafeMutableBufferPointer(rebasing: buffer[..<count]), buffer.baseAddress! + count)
  }

  private static func store(_ word: UInt32, at place: UnsafeMutablePointer<UInt8>) {
    withUnsafeBytes(of: word.bigEndian) {
      UnsafeMutableRawPointer(place).copyMemory(from: $0.baseAddress!, byteCount: 4)
    }
  }
}
