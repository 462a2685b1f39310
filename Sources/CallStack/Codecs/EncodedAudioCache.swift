internal import CallCore
internal import Synchronization

/// Packets that encoders of this process have made, by everything that went into their encoder before: the settings and
/// all samples so far.
///
/// A run that repeats another's sound is not encoded again, and its packets are the same bytes. That holds also where an
/// encoder follows the network: from its first other setting on, it encodes.
package final class EncodedAudioCache: Sendable {
  /// The cache of the calls of this process.
  package static let shared = EncodedAudioCache(byteLimit: 48 << 20)

  /// The hash of all that an encoder was given, in two independent words: with one, a million packets would leave a
  /// chance of one in ten million for a wrong one.
  struct Key: Hashable {
    private var first: UInt64 = 0
    private var second: UInt64 = 0

    mutating func mix(_ word: UInt64) {
      first = (first ^ word) &* 0x9E37_79B9_7F4A_7C15
      first ^= first >> 29
      second = (second &+ word) &* 0xD6E8_FEB8_6659_FD93
      second ^= second >> 32
    }

    mutating func mix(_ samples: Span<Int16>) {
      mix(UInt64(samples.count))
      let bytes = samples.bytes
      var offset = 0
      while let word = bytes.bigEndian(UInt64.self, at: offset) {
        mix(word)
        offset += 8
      }
      while let byte = bytes.byte(at: offset) {
        mix(UInt64(byte))
        offset += 1
      }
    }
  }

  struct Packet {
    var bytes: [UInt8]
    var audio: EncodedAudio
  }

  private struct State {
    var packets: [Key: Packet] = [:]
    var byteCount = 0
    var hitCount = 0
  }

  private let byteLimit: Int
  private let state = Mutex(State())
  /// What a packet takes beside its bytes.
  private static let overhead = 120

  package init(byteLimit: Int) { self.byteLimit = byteLimit }

  /// The number of packets that were not encoded again.
  package var hitCount: Int { state.withLock { $0.hitCount } }

  func packet(for key: Key) -> Packet? {
    state.withLock { state in
      let packet = state.packets[key]
      if packet != nil { state.hitCount += 1 }
      return packet
    }
  }

  func add(_ packet: Packet, for key: Key) {
    state.withLock { state in
      let size = packet.bytes.count + Self.overhead
      // What is used again is soon here again.
      if state.byteCount + size > byteLimit {
        state.packets.removeAll()
        state.byteCount = 0
      }
      if state.packets.updateValue(packet, forKey: key) == nil { state.byteCount += size }
    }
  }
}
