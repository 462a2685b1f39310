import CallCore
import Testing

@testable import Codecs

@Suite struct EncodedAudioCacheTests {
  private func sound(_ seed: UInt64, frames: Int) -> [[Int16]] {
    var random = RandomStream(seed: seed)
    return (0..<frames).map { frame in
      (0..<960).map {
        Int16(truncatingIfNeeded: ($0 * (frame % 7 + 1) * 131) % 9_000 + Int(random.uniform(below: 900)))
      }
    }
  }

  /// The packets of the frames, with a change of settings before one of them.
  private func packets(
    _ frames: [[Int16]], _ cache: EncodedAudioCache?, change: Int? = nil, reset: Int? = nil, room: Int = 1_275
  ) throws -> [[UInt8]] {
    let encoder = try OpusEncoder(cache: cache)
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: room)
    defer { memory.deallocate() }
    return try frames.enumerated().map { index, frame in
      if index == change {
        var settings = encoder.settings
        settings.expectedPacketLoss = 20
        try encoder.update(settings)
      }
      if index == reset { encoder.reset() }
      var output = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
      let audio = try encoder.encode(frame.span, into: &output)
      #expect(audio.samplesPerChannel == 960)
      return Array(memory[..<output.finalize(for: memory)])
    }
  }

  @Test func `the same sound is encoded once and gives the same bytes`() throws {
    let cache = EncodedAudioCache(byteLimit: 1 << 20)
    let frames = sound(1, frames: 50)
    let plain = try packets(frames, nil)
    #expect(try packets(frames, cache) == plain)
    #expect(cache.hitCount == 0)
    #expect(try packets(frames, cache) == plain)
    #expect(cache.hitCount == 50)
  }

  @Test(arguments: [1, 20, 49])
  func `from other sound on the bytes are those of an encoder that heard all of it`(change: Int) throws {
    let cache = EncodedAudioCache(byteLimit: 1 << 20)
    _ = try packets(sound(1, frames: 50), cache)
    let mixed = Array(sound(1, frames: 50)[..<change]) + sound(2, frames: 50)[change...]
    #expect(try packets(mixed, cache) == packets(mixed, nil))
    #expect(cache.hitCount == change)
  }

  @Test func `a change of settings and a reset are heard`() throws {
    let cache = EncodedAudioCache(byteLimit: 1 << 20)
    let frames = sound(3, frames: 50)
    let plain = try packets(frames, cache)
    let changed = try packets(frames, nil, change: 20, reset: 35)
    #expect(changed != plain)
    #expect(try packets(frames, cache, change: 20, reset: 35) == changed)
    #expect(try packets(frames, cache, change: 20, reset: 35) == changed)
    #expect(cache.hitCount == 20 + 50)
  }

  @Test func `less room for a packet is another packet`() throws {
    let cache = EncodedAudioCache(byteLimit: 1 << 20)
    let frames = sound(4, frames: 20)
    _ = try packets(frames, cache)
    #expect(try packets(frames, cache, room: 40) == packets(frames, nil, room: 40))
  }

  @Test func `a full cache begins anew`() throws {
    let cache = EncodedAudioCache(byteLimit: 2_000)
    let frames = sound(5, frames: 50)
    let plain = try packets(frames, nil)
    #expect(try packets(frames, cache) == plain)
    #expect(try packets(frames, cache) == plain)
    #expect(cache.hitCount == 0)
  }
}
