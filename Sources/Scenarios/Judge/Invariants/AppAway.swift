internal import CallCore
internal import ScenarioFormat
internal import SimNet
internal import Vocabulary

/// An app in the background has no camera and makes no view; of a suspended or terminated one nothing leaves the device,
/// and it is told nothing. Judged by the system's record of the app's state.
final class AppAway {
  /// The time in which a device sends what its app had sent.
  static let grace = Interval.milliseconds(100)

  private let context: MonitorContext
  private let report: (Violation) -> Void
  private var sides: [String: Side] = [:]

  private final class Side {
    var state = AppState.active
    var since = Instant.zero
    var isCameraOpen = false
    var isTold = false
  }

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    self.context = context
    self.report = report
    for peer in context.scenario.peers.map(\.name) { follow(peer) }
    context.wire.listen(media: { [unowned self] media in
      guard media.direction == .tx, media.transport == .udp, let side = sides[media.peer], side.state >= .suspended,
        media.time - side.since > Self.grace
      else { return }
      tell(side, media.time, "\(media.peer) sent media")
    })
  }

  private func follow(_ peer: String) {
    let (side, watch) = (Side(), context.watch)
    sides[peer] = side
    watch.listen(to: PeerEvents.appState, of: peer) { [unowned self] record, state in
      side.state = AppState(rawValue: state) ?? .active
      (side.since, side.isTold) = (record.time, false)
      judgeCamera(peer, side, record.time)
    }
    watch.listen(to: PeerEvents.camera, of: peer) { [unowned self] record, isOpen in
      side.isCameraOpen = isOpen
      judgeCamera(peer, side, record.time)
    }
    watch.listen(to: PeerEvents.madeView, of: peer) { [unowned self] record, user in
      if side.state >= .background { tell(side, record.time, "\(peer) made a view for \(user)") }
    }
    watch.listen(to: PeerEvents.microphone, of: peer) { [unowned self] record, isOpen in
      if isOpen, side.state >= .suspended { tell(side, record.time, "\(peer) opened its microphone") }
    }
    watch.listen(to: ServerEvents.messageSent, of: peer) { [unowned self] record, type, _, _ in
      if side.state >= .suspended { tell(side, record.time, "\(peer) sent \(type)") }
    }
    watch.listen(to: ServerEvents.messageReceived, of: peer) { [unowned self] record, type, _ in
      if side.state >= .suspended { tell(side, record.time, "\(peer)'s app was given \(type)") }
    }
  }

  private func judgeCamera(_ peer: String, _ side: Side, _ time: Instant) {
    guard side.isCameraOpen, side.state >= .background else { return }
    // The system takes the camera in the event in which the app leaves the user.
    context.watch.afterEvent { [unowned self] in
      if side.isCameraOpen, side.state >= .background { tell(side, time, "\(peer)'s camera was open") }
    }
  }

  private func tell(_ side: Side, _ time: Instant, _ what: String) {
    guard !side.isTold else { return }
    side.isTold = true
    report(Violation(.appAway, at: time, actual: "\(what) at \(Wording.time(time)), while its app was \(side.state)"))
  }
}
