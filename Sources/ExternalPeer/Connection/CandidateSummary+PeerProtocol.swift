internal import CallCore
internal import CallSession
internal import Formats
internal import Vocabulary

extension CandidateSummary {
  /// One end of a selected pair, as a program tells it; nil where it is no candidate, or of a type that nobody knows.
  ///
  /// - Parameter networkType: of the network that a local address is on.
  init?(peerProtocol json: JSON?, networkType: (IPAddress) -> String) {
    guard let json, let type = Self.word(json["candidateType"], of: "selected.local.candidateType") else { return nil }
    // A name of multicast DNS stands for an address that is not told.
    let address = json["address"]?.string.flatMap { IPAddress($0) } ?? .anyIPv4
    let port = UInt16(clamping: json["port"]?.integer ?? 0)
    self.init(
      candidateType: type, endpoint: Endpoint(address, port: port), networkType: networkType(address),
      relayProtocol: type == "relay" ? Self.word(json["relayProtocol"], of: "selected.relayProtocol") : nil)
  }

  private static func word(_ json: JSON?, of value: String) -> String? {
    json?.string.flatMap { CommonVocabulary.value(value)?.type.admits($0) == true ? $0 : nil }
  }
}
