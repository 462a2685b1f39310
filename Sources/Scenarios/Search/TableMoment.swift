internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// A time within the stay of a participant in a state: rows of the table act there.
///
/// Without the course of a run it is any stay in the state, from its beginning.
struct TableMoment {
  private let participant: MoveAlphabet.Participant
  let state: String
  private let stay: RunCourse.Stay?
  private let course: RunCourse?

  /// What the app does at the moment that it enters the state is done by then.
  private static let settling = Interval.milliseconds(10)
  /// Another seed has other delays in its networks.
  private static let margin = Interval.milliseconds(50)

  /// Returns the stays in which moves are made: that in which the peer begins, and the first that it enters.
  static func all(of participant: MoveAlphabet.Participant, in state: String, _ alphabet: MoveAlphabet) -> [TableMoment]
  {
    guard let course = alphabet.record.course else {
      return [TableMoment(participant: participant, state: state, stay: nil, course: nil)]
    }
    let stays = course.stays.filter { stay in
      stay.peer == participant.name && stay.state == state && stay.contains(stay.from + settling)
    }
    let chosen: [RunCourse.Stay] = [stays.first(where: \.isInitial), stays.first { !$0.isInitial }].compactMap(\.self)
    return chosen.map {
      TableMoment(participant: participant, state: state, stay: $0, course: course)
    }
  }

  /// The entry of the state; nil for the state in which the peer begins, which it has entered before anything can be
  /// done.
  var anchor: Anchor? {
    let begins = course?.stays.first { $0.peer == participant.name }?.state
    guard begins != state else { return nil }
    return Anchor(
      kind: .entersState(subject: participant.name, machine: participant.machine?.name ?? "", state: state))
  }

  /// The trigger of what needs nothing but the state.
  var trigger: TimelineEntry.Trigger { trigger(Self.settling) }

  private func trigger(_ delay: Interval) -> TimelineEntry.Trigger {
    anchor.map { .after(delay, of: $0) } ?? .at((stay?.from ?? .zero) + delay)
  }

  /// Returns the trigger of a message: the first time in the state at which the receiver is connected, and the message
  /// that gives the content has passed.
  func trigger(of message: RawMessage) -> Result<TimelineEntry.Trigger, MoveTable.Lack> {
    guard let stay, let course, let server = message.server else { return .success(trigger) }
    var time = stay.from + Self.settling
    if let model = message.like {
      guard let passage = course.passage(of: model, by: server) else { return .failure(.model) }
      let isLater = passage + Self.settling > time
      time = max(time, passage + (isLater && stay.contains(passage + Self.margin) ? Self.margin : Self.settling))
      guard stay.contains(time) else { return .failure(.model) }
    }
    let connections = course.connections.filter { $0.server == server && $0.peer == participant.name }
    guard let open = connections.first(where: { $0.until.map { time < $0 } ?? true }) else {
      return .failure(.connection)
    }
    if open.from >= time { time = open.from + Self.settling }
    return stay.contains(time) ? .success(trigger(time - stay.from)) : .failure(.connection)
  }
}
