internal import CallCore
internal import PeerSession
internal import SimNet
internal import VirtualPeer

/// Notes who hears and sees whom.
final class ReceptionWatch {
  private let world: World
  private(set) var hearers = ReceptionTimes()
  private(set) var viewers = ReceptionTimes()
  /// The peers that send the streams, as far as they are known.
  private var senders: [UInt32: String] = [:]

  init(_ world: World) {
    self.world = world
    for peer in world.peers {
      peer.audioRecord.onPlay = { [unowned self, name = peer.name] position in
        note(position.ssrc, position.timestamp, to: name, in: \.hearers)
      }
      peer.videoRecord.onShown = { [unowned self, name = peer.name] shown in
        note(shown.ssrc, shown.timestamp, to: name, in: \.viewers)
      }
    }
  }

  private func note(
    _ ssrc: UInt32, _ timestamp: UInt32, to receiver: String,
    in times: ReferenceWritableKeyPath<ReceptionWatch, ReceptionTimes>
  ) {
    guard let sender = senders[ssrc] ?? world.sender(of: ssrc, timestamp: timestamp) else { return }
    senders[ssrc] = sender
    self[keyPath: times].note(.init(receiver: receiver, sender: sender), at: world.simulator.now)
  }
}
