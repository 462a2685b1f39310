internal import CallCore
internal import Formats
internal import PeerSession
internal import Vocabulary

extension CandidateSummary {
  /// Creates one end of a selected pair from a program's report; nil if it is not a candidate of a known type.
  ///
  /// - Parameter networkType: returns the type of the network to which a local address belongs.
  init?(peerProtocol json: JSON?, networkType: (IPAddress) -> String) {
    guard let json, let type = Self.word(json["candidateType"], of: PeerConnectionEvents.selectedType(.local)) else {
      return nil
    }
    // The program may hide the address behind an mDNS name.
    let address = json["address"]?.string.flatMap { IPAddress($0) } ?? .anyIPv4
    let port = UInt16(clamping: json["port"]?.integer ?? 0)
    self.init(
      candidateType: type, endpoint: Endpoint(address, port: port), networkType: networkType(address),
      relayProtocol: type == "relay"
        ? Self.word(json["relayProtocol"], of: PeerConnectionEvents.selectedRelayProtocol) : nil)
  }

  private static func word(_ json: JSON?, of event: TraceEvent<String>) -> String? {
    json?.string.flatMap { CommonVocabulary.value(event.name)?.type.admits($0) == true ? $0 : nil }
  }
}
