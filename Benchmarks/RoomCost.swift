import CallCore
import Profiles
import ScenarioFormat
import ScenarioJudge
import ScenarioRun
import SimNet

/// A room on a server that forwards, in which everybody publishes audio and hears all others.
struct RoomCost {
  private let run: SingleRun
  /// When all are in the room, and two seconds of talk begin.
  private let begin = Instant.zero + .seconds(6)
  private let end = Instant.zero + .seconds(8)

  init(participants count: Int) {
    let names = (1...count).map { "p\($0)" }
    let text = """
      callsim: 1
      id: bench
      media: synthetic
      limits: { wall: 1h }
      peers:
      \(names.map { "  \($0): { profile: twilio, network: home }" }.joined(separator: "\n"))
      timeline:
      \(names.enumerated().map { "  - { at: \($0 * 20)ms, do: \($1).connect, room: r }" }.joined(separator: "\n"))
        - { mark: settled, at: 6s }
        - { mark: over, at: 8s }
      expect:
      \(names.map { "  - { always: \($0).audible and \($0).remote.subscribed == \(count - 1), between: [settled, over] }" }
        .joined(separator: "\n"))
      """
    let result = ScenarioFile.load(text: text, registry: ProfileCatalogue.builtIn.registry)
    guard let file = result.scenario else { preconditionFailure(result.report.rendered(as: .text(color: false))) }
    run = SingleRun(cell: file.cells[0], seed: 1, path: file.path, profiles: .builtIn)
  }

  /// - Returns: processor seconds for each packet that is sent while all talk.
  func perPacket() -> Double {
    let window = PacketWindow(from: begin, to: end)
    var outputs = RunOutputs()
    outputs.tap = window
    do {
      let result = try run.execute(outputs: outputs)
      precondition(result.verdict == .pass, "not everybody hears everybody: \(result.findings)")
    } catch {
      preconditionFailure("\(error)")
    }
    return window.costPerPacket
  }
}

/// Counts packets in a part of a run, and the processor time that it takes.
private final class PacketWindow: PacketTap {
  private let from: Instant
  private let to: Instant
  private var packets = 0
  private var begin: Double?
  private var end: Double?

  init(from: Instant, to: Instant) { (self.from, self.to) = (from, to) }

  var costPerPacket: Double {
    guard let begin, let end, packets > 0 else { preconditionFailure("nothing was sent") }
    return (end - begin) / Double(packets)
  }

  func added(_ interface: InterfaceID, name: String) {}

  func observed(
    _ payload: RawSpan, _ header: PacketHeader, on interface: InterfaceID, _ direction: LinkDirection,
    isDamaged: Bool, at now: Instant
  ) {
    guard now >= from, end == nil else { return }
    if begin == nil { begin = processorSeconds() }
    if now >= to { end = processorSeconds() } else if direction == .tx { packets += 1 }
  }
}
