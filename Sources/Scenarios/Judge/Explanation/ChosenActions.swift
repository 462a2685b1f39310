internal import CallCore
internal import Formats
internal import ScenarioFormat
internal import Vocabulary

/// The actions of users that decide what others hear: muting, hanging up, denying the app the microphone, and a silent
/// microphone.
struct ChosenActions {
  private struct Chosen {
    let peer: String
    let action: String
    let target: String
    let time: Instant
    /// The name of the action that reverts it: the one that unmutes, for the one that mutes.
    let inverse: String?
    var takenBackAt: Instant?
  }

  /// The time before a change in which an action may have caused it, unless it is in force: sound is delayed by buffers
  /// and by ``Device/silenceLimit``.
  private static let lead = Interval.seconds(5)
  private static let perPeer = 3

  private let context: MonitorContext
  private let hearing: Hearing

  init(_ context: MonitorContext, _ hearing: Hearing) {
    (self.context, self.hearing) = (context, hearing)
  }

  /// The actions that are in force or may have an effect, without those that the app refused.
  private var chosen: [Chosen] {
    var chosen: [Chosen] = []
    for action in context.story.userActions.elements where !action.isRefused {
      Self.note(action, context.vocabulary(of: action.peer)?.actions ?? [], in: &chosen)
    }
    return chosen
  }

  private static func note(_ action: RunStory.UserAction, _ actions: [ActionDeclaration], in chosen: inout [Chosen]) {
    let (peer, name) = (action.peer, action.action)
    // A call begins without actions.
    let role = actions.first { $0.name == name }?.role
    if role?.isConsent == true {
      chosen.removeAll { $0.peer == peer && $0.inverse != nil }
      return
    }
    if let index = chosen.lastIndex(where: { $0.peer == peer && $0.inverse == name }) {
      chosen[index].takenBackAt = chosen[index].takenBackAt ?? action.time
      return
    }
    chosen.removeAll { $0.peer == peer && $0.inverse != nil && $0.action == name }
    let inverse = role == .mute ? actions.first { $0.role == .unmute }?.name : nil
    chosen.append(Chosen(peer: peer, action: name, target: action.target, time: action.time, inverse: inverse))
  }

  /// Returns the actions that affect a value of the failed expectation.
  ///
  /// `alice: the user chose mute at 8.38 s, and did not choose unmute since`
  func lines(of expectation: Expectation, at time: Instant) -> [String] {
    let speakers = hearing.speakers(heardIn: expectation)
    var isMetric = false
    if case .metric = expectation.kind { isMetric = true }
    let start = min(context.lastChange(in: expectation) ?? time, time) - Self.lead
    return microphones(of: speakers)
      + lines { action in
        if action.inverse != nil {
          return speakers.contains(action.peer) && (action.takenBackAt.map { $0 >= time - Self.lead } ?? true)
        }
        // An action that ends the window of a metric did not affect the samples within it.
        return action.time >= start && (!isMetric || action.time < time)
      }
  }

  /// Returns the actions shortly before `time`.
  func lines(at time: Instant) -> [String] {
    lines { $0.inverse == nil && $0.time >= time - Self.lead }
  }

  private func lines(where bears: (Chosen) -> Bool) -> [String] {
    let chosen = chosen
    return context.scenario.peers.map(\.name).flatMap { peer in
      chosen.filter { $0.peer == peer && bears($0) }.suffix(Self.perPeer).map { action in
        let target = action.target.isEmpty ? "" : " \(action.target)"
        let still =
          action.inverse.map { inverse in
            action.takenBackAt.map { ", and \(inverse) only at \(Wording.time($0))" }
              ?? ", and did not choose \(inverse) since"
          } ?? ""
        return "\(peer): the user chose \(action.action)\(target) at \(Wording.time(action.time))\(still)"
      }
    }
  }

  private func microphones(of speakers: [String]) -> [String] {
    context.scenario.peers.filter { speakers.contains($0.name) }.compactMap { peer in
      if peer.devices.permission == .denied {
        return "\(peer.name): the user keeps the app from the microphone (permission: denied), so that it sends silence"
      }
      switch peer.devices.microphone {
      case .silence: return "\(peer.name): the microphone hears nothing (mic: silence)"
      case .file(let recording, _) where recording.atEnd == .silence:
        return "\(peer.name): the microphone hears its recording once, and then nothing (at_end: silence)"
      case .speech, .tone, .noise, .file: return nil
      }
    }
  }
}
