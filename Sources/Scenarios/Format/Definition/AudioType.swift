import CallCore

extension Scenario.Audio {
  static let type = MappingType(
    "audio", "how a peer encodes audio; what is left out is the profile's", Scenario.Audio(),
    [
      .key(
        "codecs", codecList, \.codecs, default: "opus",
        "the formats to offer and to accept, the preferred one first; red, CN and telephone-event assist the others; iLBC and isac are modelled"
      ),
      .key(
        "red", .count(0...9), \.red, default: "1 where codecs has red before opus, else 0",
        "the number of earlier Opus packets that each packet repeats (RFC 2198)"),
      .key(
        "stereo", .flag, \.stereo, default: "false",
        "the microphone in two equal channels to a peer that asks for stereo, as this peer does (RFC 7587)"),
      .key("ptime", ValueFormat<Interval>.duration(.positive).checked(ptimeProblem), \.ptime, "audio in one packet"),
      .key("bitrate", ValueFormat<DataRate>.rate.checked(bitrateProblem), \.bitrate, "target of the encoder"),
      .key("fec", .flag, \.fec, "Opus in-band forward error correction; on in every peer without the key"),
      .key("dtx", .flag, \.dtx, "silence is not sent: by Opus, or as comfort noise (CN) beside G.711 and G.722"),
      .key("complexity", .count(0...10), \.complexity, "Opus complexity"),
      .key("cbr", .flag, \.cbr, "constant bit rate"),
      .key("packet_loss_hint", .percentage(), \.packetLossHint, "the loss the encoder is told to expect"),
    ])

  /// Reads a list with a format that carries sound alone, and beside each other format one that it assists.
  private static let codecList = ValueFormat<Codec>.choice.list(atLeast: 1).distinct(\.rawValue).map {
    codecs, span, reading in
    guard let problem = problem(of: codecs) else { return codecs }
    reading.report(.conflictingKeys, problem.message, at: span, hint: problem.hint)
    return nil
  } back: {
    $0
  }

  private static func problem(of codecs: [Codec]) -> (message: String, hint: String)? {
    if !codecs.contains(where: \.carriesSound) {
      let names = codecs.map(\.rawValue).joined(separator: ", ")
      return ("no sound is sent with \(names) alone", "add opus, PCMU, PCMA or G722")
    }
    if codecs.contains(.redundancy), !codecs.contains(.opus) {
      return ("red repeats packets of Opus, and opus is not in the list", "add opus, or leave red out")
    }
    if codecs.contains(.comfortNoise), !codecs.contains(where: \.hasTelephoneClock) {
      let message = "CN fills the pauses of PCMU, PCMA and G722, and none of them is in the list"
      return (message, "add one of them, or leave CN out: Opus has pauses of its own")
    }
    return nil
  }

  private static let ptimeProblem: @Sendable (Interval) -> String? = { ptime in
    let legal: [Int64] = [10, 20, 30, 40, 60, 80, 100, 120]
    return legal.contains { Interval.milliseconds($0) == ptime }
      ? nil : "a packet holds 10, 20, 30, 40, 60, 80, 100 or 120 ms, not \(ptime)"
  }
  private static let bitrateProblem: @Sendable (DataRate) -> String? = { rate in
    (6_000...510_000).contains(rate.bitsPerSecond) ? nil : "\(rate) is not within 6kbps to 510kbps (RFC 7587)"
  }
}
