// Speed, as ratios and rates of one core, next to what we aim for. Run it with `make bench` on a quiet machine.

let quick = CommandLine.arguments.contains("--quick")
let rounds = quick ? 1 : 5

var table = FigureTable()
table.printHeader()
for pending in [256, 100_000] {
  table.add(
    Figure(
      "timers fired/s, \(pending) pending", bestRate(of: rounds) { timerHold(pending: pending, events: 2_000_000) },
      aim: pending == 256 ? 6_000_000 : 2_500_000))
}
for flows in [100, 10_000] {
  table.add(
    Figure(
      "packets/s, NAT and two lossy links, \(flows) flows",
      bestRate(of: rounds) { packetsThroughNAT(flows: flows, packets: 1_000_000) },
      aim: flows == 100 ? 1_500_000 : 700_000))
}
