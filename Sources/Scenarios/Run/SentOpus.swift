internal import PeerSession
internal import VirtualPeer

/// What the Opus packets of a peer carried in a run.
package struct SentOpus: Hashable, Sendable {
  package var peer: String
  /// The packets that follow speech while in-band redundancy is asked for and loss expected.
  package var askedForRedundancy = 0
  /// Those of them that have redundancy.
  package var withRedundancy = 0
  /// The packets with sound by the highest frequency that they carry, in Hz.
  package var bandwidths: [Int: Int] = [:]

  package init(peer: String) { self.peer = peer }

  package var isEmpty: Bool { bandwidths.isEmpty }

  /// Adds the packets of another run.
  package mutating func add(_ other: SentOpus) {
    askedForRedundancy += other.askedForRedundancy
    withRedundancy += other.withRedundancy
    bandwidths.merge(other.bandwidths, uniquingKeysWith: +)
  }

  init(_ peer: VirtualPeer) {
    self.init(peer: peer.name)
    for counts in peer.audioRecord.sentPackets {
      askedForRedundancy += counts.askedForRedundancy
      withRedundancy += counts.withRedundancy
      for (frequency, count) in counts.packets where count > 0 { bandwidths[frequency, default: 0] += count }
    }
  }
}
