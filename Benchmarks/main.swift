// Speed of one core next to what we aim for: `make bench`, on a quiet machine.
//
// Words on the command line select figures whose names contain one of them; --quick measures once instead of five times.

import CallCore
import PeerSession
import ScenarioFormat

let words = CommandLine.arguments.dropFirst().filter { !$0.hasPrefix("--") }
let rounds = CommandLine.arguments.contains("--quick") ? 1 : 5

let figures = [
  Figure("timers fired/s, 256 pending", .atLeast(6_000_000)) { timerHold(pending: 256, events: 2_000_000) },
  Figure("timers fired/s, 100,000 pending", .atLeast(2_500_000)) { timerHold(pending: 100_000, events: 2_000_000) },
  Figure("packets/s through a NAT and two lossy links, 100 flows", .atLeast(1_500_000)) {
    packetsThroughNAT(flows: 100, packets: 1_000_000)
  },
  Figure("packets/s through a NAT and two lossy links, 10,000 flows", .atLeast(700_000)) {
    packetsThroughNAT(flows: 10_000, packets: 1_000_000)
  },
  Figure("calls set up/s, ICE and DTLS, certificates cached", .atLeast(200)) { callSetups(200) },
  Figure("call s simulated/s, synthetic audio, DTLS-SRTP", .atLeast(300)) {
    syntheticTalk(for: .seconds(600), protection: .dtlsSRTP)
  },
  Figure("call s simulated/s, synthetic audio, no crypto", .atLeast(1_000)) {
    syntheticTalk(for: .seconds(600), protection: .none)
  },
  Figure("call s simulated/s, a whole scenario, synthetic audio", .atLeast(300)) {
    ScenarioCall(talking: 600, media: .synthetic).speed()
  },
  Figure("call s simulated/s, a whole scenario, synthetic video and audio", .atLeast(200)) {
    ScenarioCall(talking: 60, media: .synthetic, hasVideo: true).speed()
  },
  Figure("cost of a scenario with VP8 and Opus ÷ cost of its codecs", .atMost(1.15)) {
    ScenarioCall(talking: 5, media: .real, hasVideo: true).codecOverhead()
  },
  Figure("cost of a scenario with Opus ÷ cost of codec and crypto", .atMost(1.25)) {
    ScenarioCall(talking: 30, media: .real).overhead()
  },
  // More than 1: the state of 2,450 streams does not fit into the caches.
  Figure("cost of a packet in a room of 50 ÷ of 5, measured once", .atMost(1.5), limit: 1) {
    RoomCost(participants: 50).perPacket() / RoomCost(participants: 5).perPacket()
  },
]

let chosen = figures.filter { figure in words.isEmpty || words.contains { figure.name.contains($0) } }
printHeader()
for figure in chosen { figure.measureAndPrint() }
