package import CallCore
internal import Codecs

/// How the sound of a track is sent: what comes of the settings and of what the other side takes.
package struct SentAudioFormat: Hashable, Sendable, CustomStringConvertible {
  package var codec = AudioCodec.opus
  package var channels = 1
  package var packetDuration = Interval.milliseconds(20)
  package var bitrate = DataRate.bitsPerSecond(0)
  package var isVariableBitrate = true
  package var usesInBandFEC = false
  package var usesDTX = false
  /// The complexity of Opus, and the loss that it is told to expect; nil of other codecs, and where it is measured.
  package var complexity: Int?
  package var expectedLoss: Int?
  /// The number of earlier packets that each repeats (RFC 2198).
  package var repeatedPackets = 0
  /// Whether comfort noise replaces pauses (RFC 3389).
  package var hasComfortNoise = false
  /// Whether digits can be sent (RFC 4733).
  package var hasEvents = false

  package init() {}

  package var description: String {
    let flags = [
      ("vbr", isVariableBitrate), ("fec", usesInBandFEC), ("dtx", usesDTX), ("cn", hasComfortNoise),
      ("events", hasEvents),
    ].filter(\.1).map(\.0)
    let numbers = [("complexity", complexity), ("loss", expectedLoss)].compactMap { name, number in
      number.map { "\(name) \($0)" }
    }
    return
      (["\(codec.rawValue)/\(channels)", "\(packetDuration)", "\(bitrate)", "red \(repeatedPackets)"] + flags + numbers)
      .joined(separator: " ")
  }
}

extension SentAudioFormat {
  init(_ encoding: AudioEncoding, _ settings: AudioSettings) {
    codec = encoding.codec
    channels = encoding.channels
    packetDuration = encoding.packetDuration.interval
    bitrate = encoding.bitrate
    isVariableBitrate = encoding.isVariableBitrate
    usesInBandFEC = encoding.usesInBandFEC
    usesDTX = encoding.usesDTX
    guard codec == .opus else { return }
    complexity = settings.complexity
    expectedLoss = settings.expectedLossPercent
  }
}
