internal import CallCore
internal import Vocabulary

/// A VoIP push that has reached a device.
public final class VoIPPush {
  /// What the server sent, by names.
  public let payload: [String: String]
  fileprivate var reportCount = 0
  private var onComplete: ((VoIPPush) -> Void)?

  fileprivate init(payload: [String: String], onComplete: @escaping (VoIPPush) -> Void) {
    self.payload = payload
    self.onComplete = onComplete
  }

  /// Ends the handling of the push: the app must have reported a call before.
  public func complete() {
    onComplete?(self)
    onComplete = nil
  }
}

/// The part of a system that takes VoIP pushes for an app (PushKit).
///
/// A push wakes the app, or launches it. An app that completes a push without a report of a call to ``CallKit``, or does
/// not complete it within ``deadline``, is terminated. iOS withholds pushes from an app that does so repeatedly, and
/// documents no number: ``limit`` is a harness default.
public final class PushKit {
  /// The time for handling a push: a harness default.
  static let deadline = Interval.seconds(5)
  /// The number of pushes without a report after which an app gets none any more: a harness default.
  static let limit = 3

  private let clock: PeerClock
  private let callKit: CallKit
  private let mayReceive: Bool
  private let trace: Trace
  private let subject: TraceSubject
  private var pending: [VoIPPush] = []
  private var unreportedCount = 0
  /// Whether the app has registered; a registration outlives its process.
  private(set) var isRegistered = false

  /// Lets the app run and takes the push to it.
  var deliver: (VoIPPush) -> Void = { _ in }
  /// Ends the process of the app.
  var terminate: () -> Void = {}

  /// - Parameters:
  ///   - mayReceive: Whether the app declares the background mode voip.
  ///   - clock: The clock of the device's system.
  init(callKit: CallKit, mayReceive: Bool, clock: PeerClock, trace: Trace, subject: TraceSubject) {
    self.callKit = callKit
    self.mayReceive = mayReceive
    self.clock = clock
    self.trace = trace
    self.subject = subject
    callKit.onReport = { [unowned self] in for push in pending { push.reportCount += 1 } }
  }

  /// Registers the app for VoIP pushes.
  public func register() { isRegistered = true }

  func receive(_ payload: [String: String], isOnline: Bool) {
    let isWithheld = unreportedCount >= Self.limit
    guard isOnline, !isWithheld, mayReceive else {
      let reason =
        !mayReceive
        ? "the app does not declare the background mode voip"
        : isWithheld ? "withheld: the app did not report calls for earlier ones" : "the device had no network"
      trace.write(PeerEvents.pushLost, subject, reason)
      return
    }
    let push = VoIPPush(payload: payload) { [unowned self] in completed($0) }
    pending.append(push)
    callKit.say(.push, "")
    clock.schedule(after: Self.deadline) { [unowned self, weak push] in
      if let push, pending.contains(where: { $0 === push }) { punish(push) }
    }
    deliver(push)
  }

  private func completed(_ push: VoIPPush) {
    callKit.say(.pushCompleted, "")
    guard push.reportCount == 0 else { return pending.removeAll { $0 === push } }
    // The app is in the middle of something.
    clock.schedule(after: .zero) { [unowned self] in punish(push) }
  }

  private func punish(_ push: VoIPPush) {
    pending.removeAll { $0 === push }
    unreportedCount += 1
    terminate()
  }

  func processEnded() { pending = [] }
}
