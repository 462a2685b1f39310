internal import CallCore
internal import PeerSession
internal import SimNet
internal import VirtualPeer

/// Notes who hears and sees whom.
final class ReceptionWatch {
  private let world: World
  private(set) var receptions = Receptions()
  /// The peers that send the streams, as far as they are known.
  private var senders: [UInt32: String] = [:]

  init(_ world: World) {
    self.world = world
    for peer in world.peers {
      let name = peer.name
      peer.audioRecord.onSpeech = { [unowned self] in
        receptions.spoken[name, default: .init()].note(at: self.world.simulator.now)
      }
      peer.audioRecord.onPlay = { [unowned self] position in
        // Of silence, which a microphone sends that is off, nobody hears anything.
        if self.world.isSpeech(at: position) ?? true { note(position.ssrc, position.timestamp, to: name, in: \.heard) }
      }
      peer.videoRecord.onShown = { [unowned self] shown in
        // In black, which a camera sends that is off, nobody sees anything.
        if !self.world.isBlack(shown) { note(shown.ssrc, shown.timestamp, to: name, in: \.seen) }
      }
    }
  }

  private func note(
    _ ssrc: UInt32, _ timestamp: UInt32, to receiver: String,
    in kind: WritableKeyPath<Receptions, [Receptions.Pair: Receptions.Presence]>
  ) {
    guard let sender = senders[ssrc] ?? world.sender(of: ssrc, timestamp: timestamp) else { return }
    senders[ssrc] = sender
    let pair = Receptions.Pair(receiver: receiver, sender: sender)
    receptions[keyPath: kind][pair, default: .init()].note(at: world.simulator.now)
  }
}
