internal import CallCore

extension StoryCollector {
  /// Notes events worth reading, each in a sentence.
  func listenToNotes(_ trace: Trace) {
    note(PeerEvents.code, in: trace) { (code: $0, text: "raised \($0)") }
    note(PeerEvents.callEnded, in: trace) { (code: $0, text: "ended with \($0)") }
    trace.listen(to: PeerEvents.actionRefused) { [unowned self, unowned trace] record, _, _ in
      refuseLastAction(of: trace.name(of: record.subject))
    }
    note(PeerEvents.actionRefused, in: trace) { (nil, "the app refused \($0): \($1)") }
    note(PeerEvents.illegalTransition, in: trace) { (nil, "\($0) may not go from \($1) to \($2) on \($3)") }
    note(PeerEvents.messageRejected, in: trace) { (nil, "rejected a message: \($0)") }
    note(PeerConnectionEvents.serverError, in: trace) { server, code, reason, _ in
      switch code {
      // W3C webrtc-pc, RTCPeerConnectionIceErrorEvent.
      case 701: (nil, "\(server) was not reached: \(reason)")
      case 0: (nil, "\(server) answered with an error without a code: \(reason)")
      default: (nil, "\(server) answered \(code): \(reason)")
      }
    }
    note(PeerConnectionEvents.candidateRefused, in: trace) { (nil, "did not check the candidate '\($0)': \($1)") }
    note(PeerConnectionEvents.restart, in: trace) {
      (nil, $0 == "peer" ? "was asked to restart ICE" : "restarts ICE")
    }
    note(PeerConnectionEvents.dtlsFailed, in: trace) { (nil, "DTLS failed: \($0)") }
    note(PeerConnectionEvents.consentExpired, in: trace) { (nil, "consent expired for \($0)") }
    note(DataChannelEvents.announced, in: trace) { (nil, "was told of the data channel '\($1)'") }
    note(DataChannelEvents.failed, in: trace) { (nil, "data channel \($0) failed: \($1)") }
    note(DataChannelEvents.closedByPeer, in: trace) { label, missing in
      (
        nil,
        "the other side closed the data channel '\(label)'"
          + (missing > 0 ? ", and \(missing) messages are missing" : "")
      )
    }
    note(DataChannelEvents.unsent, in: trace) { label, count, reason in
      (nil, "could not send \(count) messages on the data channel '\(label)': \(reason)")
    }
  }

  private func note<each Value>(
    _ event: TraceEvent<repeat each Value>, in trace: Trace,
    _ sentence: @escaping (repeat each Value) -> (code: String?, text: String)
  ) {
    trace.listen(to: event) { [unowned self, unowned trace] (record: TraceRecord, value: repeat each Value) in
      let (code, text) = sentence(repeat each value)
      append(
        .init(
          order: nextOrder(), time: record.time, subject: trace.name(of: record.subject), kind: event.name, code: code,
          text: text))
    }
  }
}
