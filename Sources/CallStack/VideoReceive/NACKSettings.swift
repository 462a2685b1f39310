import CallCore
package import RTP

extension NACKGenerator.Settings {
  /// The figures of libwebrtc for video: 1000 numbers, no older than 10 000 packets, requested ten times each; a full
  /// list means that only a key frame helps.
  package static var video: NACKGenerator.Settings {
    var settings = NACKGenerator.Settings()
    settings.maximumListSize = 1_000
    settings.maximumPacketAge = 10_000
    settings.maximumAge = .minutes(60)
    settings.clearsOnOverflow = true
    return settings
  }

  /// The number of sequence numbers in one NACK, as in libwebrtc.
  package static let maximumPerPacket = 253
}
