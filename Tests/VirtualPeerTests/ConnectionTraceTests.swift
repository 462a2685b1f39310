import CallCore
import PeerSession
import Testing
import Vocabulary

@testable import VirtualPeer

/// The selected pair is told in the words that its values declare.
@Suite struct ConnectionTraceTests {
  private final class Words: TraceObserver {
    private(set) var all: [String: String] = [:]

    func observe(_ record: TraceRecord, in trace: Trace) {
      all[trace.name(of: record.kind)] = trace.value(of: record)?.description
    }
  }

  /// What is written of a pair with this local end.
  private static func write(_ type: String, network: String = "wifi", relay: String? = nil) -> [String: String] {
    let (trace, words) = (Trace(), Words())
    trace.add(words)
    let place = Endpoint("192.0.2.1:5000")!
    var connection = ConnectionTrace(trace: trace, subject: "alice", keyLog: nil)
    connection.write(
      .selectedCandidatePairChange(
        local: CandidateSummary(candidateType: type, endpoint: place, networkType: network, relayProtocol: relay),
        remote: CandidateSummary(candidateType: "host", endpoint: place, networkType: "unknown")))
    return words.all
  }

  @Test(
    arguments: [
      ("host", nil, "none"), ("srflx", nil, "none"), ("prflx", nil, "none"), ("relay", "udp", "udp"),
      ("relay", "tcp", "tcp"), ("relay", "tls", "tls"), ("relay", nil, "unknown"),
    ] as [(String, String?, String)])
  func `how a relay is reached is told, and that there is none`(type: String, relay: String?, word: String) {
    let words = Self.write(type, relay: relay)
    #expect(words[PeerConnectionEvents.selectedRelayProtocol.name] == word)
    for (name, word) in words {
      guard let declaration = CommonVocabulary.value(name), case .choice = declaration.type else { continue }
      #expect(declaration.type.admits(word), "\(name)")
    }
  }

  @Test func `a word that is not declared traps`() async {
    await #expect(processExitsWith: .failure) { _ = ConnectionTraceTests.write("hosted") }
    await #expect(processExitsWith: .failure) { _ = ConnectionTraceTests.write("relay", relay: "sctp") }
    await #expect(processExitsWith: .failure) { _ = ConnectionTraceTests.write("host", network: "carrier pigeon") }
  }
}
