internal import CallCore
internal import Formats
internal import ScenarioFormat
internal import Vocabulary

/// The actions of users that decide what others hear: muting, hanging up, denying the app the microphone, and a silent
/// microphone.
struct UserDeeds {
  private struct Deed {
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
  private var deeds: [Deed] {
    var deeds: [Deed] = []
    for deed in context.story.deeds.elements where !deed.isRefused {
      Self.note(deed, context.vocabulary(of: deed.peer)?.actions ?? [], in: &deeds)
    }
    return deeds
  }

  private static func note(_ deed: RunStory.Deed, _ actions: [ActionDeclaration], in deeds: inout [Deed]) {
    let (peer, name) = (deed.peer, deed.action)
    // A call begins without actions.
    let role = actions.first { $0.name == name }?.role
    if role?.isConsent == true {
      deeds.removeAll { $0.peer == peer && $0.inverse != nil }
      return
    }
    if let index = deeds.lastIndex(where: { $0.peer == peer && $0.inverse == name }) {
      deeds[index].takenBackAt = deeds[index].takenBackAt ?? deed.time
      return
    }
    deeds.removeAll { $0.peer == peer && $0.inverse != nil && $0.action == name }
    let inverse = role == .mute ? actions.first { $0.role == .unmute }?.name : nil
    deeds.append(Deed(peer: peer, action: name, target: deed.target, time: deed.time, inverse: inverse))
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
      + lines { deed in
        if deed.inverse != nil {
          return speakers.contains(deed.peer) && (deed.takenBackAt.map { $0 >= time - Self.lead } ?? true)
        }
        // An action that ends the window of a metric did not affect the samples within it.
        return deed.time >= start && (!isMetric || deed.time < time)
      }
  }

  /// Returns the actions shortly before `time`.
  func lines(at time: Instant) -> [String] {
    lines { $0.inverse == nil && $0.time >= time - Self.lead }
  }

  private func lines(where bears: (Deed) -> Bool) -> [String] {
    let deeds = deeds
    return context.scenario.peers.map(\.name).flatMap { peer in
      deeds.filter { $0.peer == peer && bears($0) }.suffix(Self.perPeer).map { deed in
        let target = deed.target.isEmpty ? "" : " \(deed.target)"
        let still =
          deed.inverse.map { inverse in
            deed.takenBackAt.map { ", and \(inverse) only at \(Wording.time($0))" }
              ?? ", and did not choose \(inverse) since"
          } ?? ""
        return "\(peer): the user chose \(deed.action)\(target) at \(Wording.time(deed.time))\(still)"
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
