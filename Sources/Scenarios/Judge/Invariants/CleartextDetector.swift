internal import CallCore
package import ScenarioFormat
internal import SimNet

/// Searches the wire for payloads as they were before protection, and writes a `cleartext` event for every packet it
/// finds.
///
/// A session reports the first eight bytes of each payload before it is protected (`media.sent`). No RTP packet that
/// the peer's host sends may have them at the start of its payload, bare or inside TURN framing. The event and the
/// packet may come in either order.
package final class CleartextDetector {
  /// Sessions pad payloads shorter than a prefix, so those prove nothing.
  private static let prefixSize = 8
  private static let smallestHeader = 12
  private static let memory = 256

  private let trace: Trace
  private var sightings: [String: Sightings] = [:]
  private var listeners: [(_ peer: String, _ identity: UInt64) -> Void] = []

  /// The payloads that one peer protected and those that its interfaces carried, newest last.
  private final class Sightings {
    let peer: String
    let subject: TraceSubject
    var meant = RecentPrefixes()
    var seen = RecentPrefixes()
    /// The identities of packets that were told.
    var told = RecentPrefixes()
    init(peer: String, subject: TraceSubject) {
      self.peer = peer
      self.subject = subject
    }
  }

  /// - Parameter peers: the peers whose sessions report their payloads.
  package init(peers: [Scenario.Peer], tap: WireTap, watch: Watch) {
    trace = watch.trace
    for peer in peers {
      let sighting = Sightings(peer: peer.name, subject: trace.subject(peer.name))
      sightings[peer.name] = sighting
      for subject in peer.connectionSubjects {
        watch.listen(to: PeerConnectionEvents.mediaSent, of: subject) { [unowned self] _, _, byteCount, prefix in
          guard byteCount >= Self.smallestHeader + Self.prefixSize else { return }
          sighting.meant.insert(prefix, 0)
          if let identity = sighting.seen.identity(of: prefix) { tell(sighting, identity) }
        }
      }
    }
    tap.listen(media: { [unowned self] media in
      guard media.direction == .tx, let prefix = media.prefix, let sighting = sightings[media.peer] else { return }
      sighting.seen.insert(prefix, media.identity)
      if sighting.meant.identity(of: prefix) != nil { tell(sighting, media.identity) }
    })
  }

  /// Calls `listener` for every unencrypted packet.
  func listen(_ listener: @escaping (_ peer: String, _ identity: UInt64) -> Void) { listeners.append(listener) }

  /// Tells of a packet once: payloads may begin alike, so that the event of one meets the packet of another.
  private func tell(_ sighting: Sightings, _ identity: UInt64) {
    guard sighting.told.identity(of: identity) == nil else { return }
    sighting.told.insert(identity, identity)
    trace.write(HarnessEvents.cleartext, sighting.subject)
    for listener in listeners { listener(sighting.peer, identity) }
  }

  /// The last few prefixes, each with the identity of its packet.
  private struct RecentPrefixes {
    private var ring: [(prefix: UInt64, identity: UInt64)] = []
    private var position = 0

    mutating func insert(_ prefix: UInt64, _ identity: UInt64) {
      if ring.count < CleartextDetector.memory {
        ring.append((prefix, identity))
      } else {
        ring[position] = (prefix, identity)
        position = (position + 1) % CleartextDetector.memory
      }
    }

    func identity(of prefix: UInt64) -> UInt64? { ring.first { $0.prefix == prefix }?.identity }
  }
}
