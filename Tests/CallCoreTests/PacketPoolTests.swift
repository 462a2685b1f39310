import CallCore
import Testing

@Suite struct PacketPoolTests {
  @Test func `a packet keeps its bytes until its last reference is released`() throws {
    var pool = PacketPool()
    let bytes: [UInt8] = [1, 2, 3]
    let allocated = pool.allocate(copying: bytes.span.bytes)
    let packet = try #require(allocated)
    pool.retain(packet)
    pool.release(packet)
    let kept = pool.withBytes(of: packet) { $0.copied }
    #expect(kept == bytes)
    pool.release(packet)
    let live = pool.liveCount
    #expect(live == 0)
  }

  @Test func `slots are reused rather than grown`() throws {
    var pool = PacketPool()
    let bytes = [UInt8](repeating: 9, count: 1_200)
    for _ in 0..<10_000 {
      let packet = pool.allocate(copying: bytes.span.bytes)
      pool.release(try #require(packet))
    }
    let live = pool.liveCount
    #expect(live == 0)
    let tooLarge = [UInt8](repeating: 0, count: 1_537)
    let refused = pool.allocate(copying: tooLarge.span.bytes)
    #expect(refused == nil)
  }
}
