internal import CallCore

/// What `recovers` waits for, media both ways or a predicate, and when it was missing since its fault began.
final class RecoveryTarget {
  /// A time in which it was not there; without an end it is not back.
  struct Absence: Equatable {
    let start: Instant
    var end: Instant?
  }

  let name: String
  /// When the fault began first.
  private(set) var began: Instant?
  /// Whether it was there when the fault began first.
  private(set) var wasThere = false
  /// Those since the fault began, in order of time.
  private(set) var absences: [Absence] = []
  /// Told when the fault is about to begin, each time.
  var onBegin: ((Instant) -> Void)?
  /// Told of the beginning and the end of each absence.
  var onChange: ((Instant) -> Void)?
  private let context: MonitorContext
  private let target: Expectation.Recovers.Target
  private let condition: Condition?
  private let media: MediaBothWays?

  init(_ recovers: Expectation.Recovers, _ context: MonitorContext) {
    self.context = context
    target = recovers.to
    switch target {
    case .mediaBothWays: (condition, media, name) = (nil, MediaBothWays(context), "media both ways")
    case .predicate(let predicate): (condition, media, name) = (context.condition(predicate), nil, "\(predicate)")
    }
    condition?.listen { [unowned self] _ in context.later { self.look(at: $0) } }
    media?.onChange = { [unowned self] time in context.watch.afterEvent { self.look(at: time) } }
    context.anchors.listen(.entry(recovers.fault)) { [unowned self] in begin(at: $0) }
  }

  var isThere: Bool { condition?.isTrue ?? media?.isTrue ?? false }
  /// What it was last, in words.
  var account: String {
    switch target {
    case .mediaBothWays: media?.account ?? ""
    case .predicate(let predicate): context.account(predicate)
    }
  }

  private func begin(at time: Instant) {
    // Who is in a call is asked anew each time.
    media?.begin(at: time)
    if began == nil {
      began = time
      wasThere = isThere
    }
    onBegin?(time)
    context.watch.afterEvent { [unowned self] in look(at: time) }
  }

  private func look(at now: Instant) {
    guard began != nil else { return }
    let last = absences.last
    let wasThere = last == nil || last?.end != nil
    guard isThere != wasThere else { return }
    if isThere { absences[absences.count - 1].end = now } else { absences.append(Absence(start: now)) }
    onChange?(now)
  }
}

extension Anchor {
  fileprivate static func entry(_ id: Located<String>) -> Anchor {
    Anchor(kind: .entry(id.value), span: id.span, text: id.value)
  }
}
