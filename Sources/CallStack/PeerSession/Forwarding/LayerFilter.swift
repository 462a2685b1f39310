/// Leaves out the temporal layers of one stream that a subscriber is not to get.
///
/// Whole frames are left out. A layer begins again where a receiver of the layers below can decode it.
struct LayerFilter {
  enum Verdict: Hashable { case send, omit }

  /// The uppermost layer that is sent.
  private var limit = 0
  /// The timestamp of the newest frame; nil before the first.
  private var newest: UInt32?
  /// The timestamps of the latest frames that were left out.
  private var omitted: [UInt32] = []
  private static let memory = 64

  /// Judges a packet.
  ///
  /// - Parameter wanted: the uppermost layer to send from now on.
  mutating func judge(_ packet: ForwardedPacket, wanted: Int) -> Verdict {
    guard newest.map({ Int32(bitPattern: packet.timestamp &- $0) > 0 }) ?? true else {
      // The rest of a frame goes where its first packet went. A frame that comes late as a whole is sent: the numbers
      // after it count it.
      return omitted.contains(packet.timestamp) ? .omit : .send
    }
    newest = packet.timestamp
    limit = min(limit, wanted)
    if packet.isEntry {
      limit = wanted
    } else if packet.layer.isSwitchPoint, packet.layer.index == limit + 1, packet.layer.index <= wanted {
      limit += 1
    }
    guard packet.layer.index > limit else { return .send }
    if omitted.count == Self.memory { omitted.removeFirst() }
    omitted.append(packet.timestamp)
    return .omit
  }
}
