/// The wishes of an Opus receiver (RFC 7587 §6.1); absent parameters have their defaults.
package struct OpusParameters: Hashable, Sendable {
  /// The minimum packet time in milliseconds.
  package var minimumPacketTime: UInt32
  package var usesInbandFEC: Bool
  package var usesDTX: Bool
  package var isStereo: Bool
  package var isConstantBitrate: Bool
  /// The maximum bitrate in bit/s, clamped to 6000 to 510000, the range of the parameter.
  package var maximumAverageBitrate: UInt32?
  /// The maximum sample rate in Hz.
  package var maximumPlaybackRate: UInt32

  package init(_ parameters: FormatParameters) {
    minimumPacketTime = parameters.number("minptime") ?? 3
    usesInbandFEC = parameters["useinbandfec"] == "1"
    usesDTX = parameters["usedtx"] == "1"
    isStereo = parameters["stereo"] == "1"
    isConstantBitrate = parameters["cbr"] == "1"
    maximumAverageBitrate = parameters.number("maxaveragebitrate").map { min(max($0, 6_000), 510_000) }
    maximumPlaybackRate = parameters.number("maxplaybackrate") ?? 48_000
  }
}

extension FormatParameters {
  /// Returns the parameters to encode with: the remote side's wishes, as far as we support them.
  ///
  /// Opus parameters are wishes as a receiver (RFC 7587 §6.1), so the remote ones apply unless we lack the feature;
  /// limits of both sides apply. iLBC has one mode for both directions, the one with the lower rate unless both sides name
  /// the other (RFC 3952 section 5). The parameters of any other codec describe what the remote side can decode.
  static func forSending(_ codec: String, remote: FormatParameters, local: FormatParameters) -> FormatParameters {
    var result = remote
    if codec.equalsIgnoringCase("ilbc") {
      result["mode"] = [remote, local].allSatisfy { $0["mode"] == "20" } ? "20" : "30"
    }
    guard codec.equalsIgnoringCase("opus") else { return result }
    for feature in ["useinbandfec", "usedtx", "stereo"] where result[feature] == "1" && local[feature] == "0" {
      result[feature] = "0"
    }
    result.limit("maxaveragebitrate", by: local, with: { min($0, $1) })
    result.limit("minptime", by: local, with: { max($0, $1) })
    return result
  }

  private mutating func limit(_ name: String, by other: FormatParameters, with choose: (UInt32, UInt32) -> UInt32) {
    guard let theirs = other.number(name) else { return }
    self[name] = String(number(name).map { choose($0, theirs) } ?? theirs)
  }
}
