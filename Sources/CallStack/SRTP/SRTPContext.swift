internal import CSRTP
internal import CallCore

/// The cryptographic context of one direction of one transport (RFC 3711 section 3.2), over libsrtp.
///
/// Packets are changed in place in the caller's memory, without allocation. Every synchronisation source has its own
/// rollover counter and replay window, created with its first packet. A packet that fails authentication changes
/// nothing.
///
/// Of the received sources the ``sourceLimit`` latest are stored: otherwise a peer with the keys could make libsrtp
/// store one for every SSRC, and search all of them for every packet.
///
/// RFC 3711 section 3.3.1 limits a receiver: it must receive one packet from before a source's sequence number first
/// wraps, or it cannot know the rollover counter. Senders therefore start below 2^15.
package struct SRTPContext: ~Copyable {
  package enum Direction: Sendable { case sending, receiving }

  /// The size of the replay window in packets.
  package static let replayWindow = 1_024

  package let profile: SRTPProfile
  package let direction: Direction
  private let session: srtp_t
  /// The received sources that libsrtp stores, least recently heard first.
  private var sources: [UInt32] = []

  /// The maximum number of stored received sources.
  package static let sourceLimit = 64

  /// Creates a context.
  ///
  /// - Throws: ``SRTPError/invalidKey`` when the lengths do not fit the profile.
  package init(_ direction: Direction, profile: SRTPProfile, key: SRTPMasterKey) throws(SRTPError) {
    guard key.key.count == profile.keyLength, key.salt.count == profile.saltLength else { throw .invalidKey }
    Self.initialiseLibraryOnce
    var policy = srtp_policy_t()
    profile.apply(to: &policy)
    policy.ssrc.type = direction == .sending ? ssrc_any_outbound : ssrc_any_inbound
    policy.window_size = UInt(Self.replayWindow)
    // Without RTX a NACKed packet is sent again with the same index and content (RFC 4588 section 7).
    policy.allow_repeat_tx = 1
    var material = key.key + key.salt
    var created: srtp_t?
    let status = material.withUnsafeMutableBufferPointer { bytes in
      policy.key = bytes.baseAddress
      return srtp_create(&created, &policy)
    }
    guard status == srtp_err_status_ok, let created else { throw SRTPError(status) }
    self.profile = profile
    self.direction = direction
    session = created
    sources.reserveCapacity(direction == .receiving ? Self.sourceLimit : 0)
  }

  deinit { srtp_dealloc(session) }

  /// Encrypts and authenticates the RTP packet that fills `packet`, which grows by ``SRTPProfile/rtpOverhead``.
  package mutating func protectRTP(_ packet: inout OutputSpan<UInt8>) throws(SRTPError) {
    guard PacketShape.isRTP(packet.span.bytes, trailer: 0) else { throw .malformed }
    guard packet.freeCapacity >= profile.rtpOverhead else { throw .noRoom }
    if Defect.oldNumberUnderNewRollover.isPlanted, let source = packet.span.bytes.bigEndian(UInt32.self, at: 8) {
      srtp_set_stream_roc(session, source, rolloverCounter(of: source) ?? 0)
    }
    try apply(srtp_protect, to: &packet)
  }

  /// Encrypts and authenticates the RTCP packet that fills `packet`, which grows by ``SRTPProfile/rtcpOverhead``.
  package mutating func protectRTCP(_ packet: inout OutputSpan<UInt8>) throws(SRTPError) {
    guard PacketShape.isRTCP(packet.span.bytes, trailer: 0) else { throw .malformed }
    guard packet.freeCapacity >= profile.rtcpOverhead else { throw .noRoom }
    try apply(srtp_protect_rtcp, to: &packet)
  }

  /// Authenticates and decrypts the SRTP packet that fills `packet`, which shrinks to the RTP packet.
  ///
  /// - Throws: the reason to drop the packet; its bytes are then unspecified.
  package mutating func unprotectRTP(_ packet: inout OutputSpan<UInt8>) throws(SRTPError) {
    guard PacketShape.isRTP(packet.span.bytes, trailer: profile.rtpOverhead) else { throw .malformed }
    try apply(srtp_unprotect, to: &packet)
    note(packet.span.bytes.bigEndian(UInt32.self, at: 8))
  }

  /// Authenticates and decrypts the SRTCP packet that fills `packet`, which shrinks to the RTCP packet.
  ///
  /// - Throws: the reason to drop the packet; its bytes are then unspecified.
  package mutating func unprotectRTCP(_ packet: inout OutputSpan<UInt8>) throws(SRTPError) {
    guard PacketShape.isRTCP(packet.span.bytes, trailer: profile.rtcpOverhead) else { throw .malformed }
    try apply(srtp_unprotect_rtcp, to: &packet)
    note(packet.span.bytes.bigEndian(UInt32.self, at: 4))
  }

  /// The number of received sources that libsrtp stores.
  package var sourceCount: Int { sources.count }

  /// Records a received packet of a source, and forgets the least recently heard source beyond the limit.
  private mutating func note(_ source: UInt32?) {
    guard let source, sources.last != source else { return }
    if let index = sources.lastIndex(of: source) {
      sources.remove(at: index)
    } else if sources.count == Self.sourceLimit {
      _ = srtp_remove_stream(session, sources.removeFirst().bigEndian)
    }
    sources.append(source)
  }

  /// Returns the number of times that the sequence number of `source` has wrapped, or nil before its first packet.
  package func rolloverCounter(of source: UInt32) -> UInt32? {
    var counter: UInt32 = 0
    return srtp_get_stream_roc(session, source, &counter) == srtp_err_status_ok ? counter : nil
  }

  /// Forgets `source`: its next packet starts a new rollover counter and replay window.
  package mutating func remove(source: UInt32) throws(SRTPError) {
    let status = srtp_remove_stream(session, source.bigEndian)
    guard status == srtp_err_status_ok else { throw SRTPError(status) }
    sources.removeAll { $0 == source }
  }

  private typealias Operation =
    @convention(c) (srtp_t?, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?) ->
    srtp_err_status_t

  @inline(__always)
  private mutating func apply(_ operation: Operation, to packet: inout OutputSpan<UInt8>) throws(SRTPError) {
    let status = packet.withUnsafeMutableBufferPointer { buffer, count in
      var length = Int32(truncatingIfNeeded: count)
      let status = operation(session, buffer.baseAddress, &length)
      if status == srtp_err_status_ok { count = Int(length) }
      return status
    }
    guard status == srtp_err_status_ok else { throw SRTPError(status) }
  }

  private static let initialiseLibraryOnce: Void = {
    let status = srtp_init()
    precondition(status == srtp_err_status_ok, "libsrtp does not start: status \(status.rawValue)")
  }()
}

extension SRTPContext {
  /// The version of the libsrtp in use, such as `libsrtp2 2.5.0`.
  package static var libraryVersion: String { String(cString: srtp_get_version_string()) }
}

extension SRTPProfile {
  func apply(to policy: inout srtp_policy_t) {
    switch self {
    case .aes128CMHMACSHA1_80:
      srtp_crypto_policy_set_rtp_default(&policy.rtp)
      srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
    case .aeadAES128GCM:
      srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
      srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
    case .aeadAES256GCM:
      srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtp)
      srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtcp)
    case .null:
      srtp_crypto_policy_set_null_cipher_hmac_null(&policy.rtp)
      srtp_crypto_policy_set_null_cipher_hmac_null(&policy.rtcp)
    }
  }
}
