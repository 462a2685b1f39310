import CallCore
import Testing

@testable import SimNet

@Suite struct PacketCaptureTests {
  @Test func `a capture shows each packet where it leaves and where it arrives, and lost ones only where they left`()
    throws
  {
    let pair = try Pair(tx: LinkSettings(loss: .every(2)))
    var bytes: [UInt8] = []
    let capture = PacketCapture { bytes += $0.copied }
    pair.simulator.tap = capture
    pair.send(1, size: 30)
    pair.send(2, size: 30)
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(capture.packetCount == 3)
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains("a a") && text.contains("b b"))
  }

  @Test func `an interface added later is introduced`() throws {
    let pair = try Pair()
    let capture = PacketCapture { _ in }
    pair.simulator.tap = capture
    let host = try pair.simulator.addHost("c", delegate: Recorder(pair.simulator))
    try pair.simulator.attach(host, to: try pair.simulator.network("lan"), link: "c")
    let socket = try pair.simulator.bind(host)
    pair.simulator.send([1], from: socket, to: pair.aEndpoint)
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(capture.packetCount == 2)
  }
}
