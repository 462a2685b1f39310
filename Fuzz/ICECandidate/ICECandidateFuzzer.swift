import CallCore
import FuzzHarness
import ICE

/// Lines of candidates, read, written, and given to an agent that has a socket and a peer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzICECandidate(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { input in
    var agent = ICEAgent(role: .controlling, random: RandomSource(seed: 1).stream("ice"), at: .zero)
    try? agent.addLocalCandidate(.host(Endpoint("198.51.100.1:5000")!), at: .zero)
    try? agent.addLocalCandidate(.host(Endpoint("[2001:db8::1]:5000")!), at: .zero)
    try? agent.setRemoteCredentials(
      ICECredentials(ufrag: "ufrg", password: "passwordpasswordpassword"), at: .zero)
    for line in String(decoding: input.copied, as: UTF8.self).split(separator: "\n") {
      guard let candidate = ICECandidate(String(line)) else { continue }
      require(ICECandidate(candidate.description) == candidate, "\(line) reads differently as \(candidate)")
      agent.addRemoteCandidate(candidate, at: .zero)
    }
    agent.advance(to: .zero + .seconds(1))
    let sent = Datagrams().drain { agent.transmit(into: &$0) }
    require(agent.pairs.count <= 100, "too many pairs")
    return sent.count + agent.pairs.count
  }
}
