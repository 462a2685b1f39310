import CallCore
import Testing

@testable import PeerSession
@testable import SDP

@Suite struct LayerFilterTests {
  private let codec = NegotiatedCodec(
    name: "VP8", clockRate: 90_000, channels: 1, payloadType: 96, retransmissionPayloadType: nil,
    parameters: FormatParameters(), feedback: [])

  private func packet(
    _ timestamp: UInt32, layer: Int, isSwitchPoint: Bool = false, isEntry: Bool = false
  ) -> ForwardedPacket {
    ForwardedPacket(
      transceiver: Transceiver.ID(number: 0), ssrc: 1, stream: 1, number: Int64(timestamp), timestamp: timestamp,
      marker: true,
      codec: codec, encoding: 0, layer: ForwardedLayer(index: layer, isSwitchPoint: isSwitchPoint), rate: .zero,
      isEntry: isEntry, picture: nil, payload: [0])
  }

  @Test func `with a key frame all wanted layers begin`() {
    var filter = LayerFilter()
    #expect(filter.judge(packet(1, layer: 0, isEntry: true), wanted: 1) == .send)
    #expect(filter.judge(packet(2, layer: 2), wanted: 1) == .omit)
    #expect(filter.judge(packet(3, layer: 1), wanted: 1) == .send)
  }

  @Test func `a layer that is no longer wanted ends with the next frame`() {
    var filter = LayerFilter()
    _ = filter.judge(packet(1, layer: 0, isEntry: true), wanted: 2)
    #expect(filter.judge(packet(2, layer: 2), wanted: 2) == .send)
    #expect(filter.judge(packet(2, layer: 2), wanted: 0) == .send)
    #expect(filter.judge(packet(3, layer: 1), wanted: 0) == .omit)
    #expect(filter.judge(packet(4, layer: 0), wanted: 0) == .send)
  }

  @Test func `a layer begins again at a switch point, one after the other`() {
    var filter = LayerFilter()
    _ = filter.judge(packet(1, layer: 0, isEntry: true), wanted: 0)
    #expect(filter.judge(packet(2, layer: 2, isSwitchPoint: true), wanted: 2) == .omit)
    #expect(filter.judge(packet(3, layer: 1), wanted: 2) == .omit)
    #expect(filter.judge(packet(4, layer: 1, isSwitchPoint: true), wanted: 2) == .send)
    #expect(filter.judge(packet(5, layer: 2), wanted: 2) == .omit)
    #expect(filter.judge(packet(6, layer: 2, isSwitchPoint: true), wanted: 2) == .send)
    #expect(filter.judge(packet(7, layer: 2), wanted: 2) == .send)
  }

  @Test func `the rest of a frame goes where its first packet went`() {
    var filter = LayerFilter()
    _ = filter.judge(packet(1, layer: 0, isEntry: true), wanted: 0)
    #expect(filter.judge(packet(2, layer: 1), wanted: 0) == .omit)
    _ = filter.judge(packet(3, layer: 0), wanted: 0)
    #expect(filter.judge(packet(2, layer: 1, isSwitchPoint: true), wanted: 2) == .omit)
  }

  @Test func `a whole frame that comes late is sent, whatever its layer`() {
    var filter = LayerFilter()
    _ = filter.judge(packet(1, layer: 0, isEntry: true), wanted: 0)
    _ = filter.judge(packet(3, layer: 0), wanted: 0)
    #expect(filter.judge(packet(2, layer: 1), wanted: 0) == .send)
  }

  @Test func `timestamps wrap`() {
    var filter = LayerFilter()
    _ = filter.judge(packet(.max, layer: 0, isEntry: true), wanted: 0)
    #expect(filter.judge(packet(2, layer: 1), wanted: 0) == .omit)
    #expect(filter.judge(packet(5, layer: 0), wanted: 0) == .send)
  }
}
