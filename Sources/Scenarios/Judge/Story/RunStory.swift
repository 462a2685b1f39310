public import CallCore

/// The events of one run for display: the terminal's trail, the sequence diagram, the explanations and the HTML report
/// are made from this alone.
///
/// A ``StoryCollector`` writes it during the run. Its size is bounded, however long the run: elements left out of a
/// list are counted.
public struct RunStory: Hashable, Sendable {
  /// The participants, in the order of the file.
  public var participants: [Participant] = []
  /// The states of every machine of every subject, in the order of their first state.
  public var machines: [Machine] = []
  /// The faults that were in force, in order of start.
  public var faults: [FaultInterval] = []
  /// The firings of timeline entries.
  public var firings: Bounded<Firing> = .init(limit: 256)
  /// The actions of users.
  public var userActions: Bounded<UserAction> = .init(limit: 256)
  /// Errors, refusals, end codes and ICE restarts.
  public var notes: Bounded<Note> = .init(limit: 512)
  /// The signalling messages, in the order of sending.
  public var messages: [Message] = []
  /// The number of messages left out of ``messages``.
  public var omittedMessages = 0
  /// The candidate pairs in use over time.
  public var pairs: Bounded<PairInterval> = .init(limit: 128)
  /// The media flows between subjects.
  public var flows: [MediaFlow] = []
  /// The dropped packets by reason and place.
  public var drops: [DropSeries] = []
  /// The measured quantities over time.
  public var gauges: [Gauge] = []
  /// The time of the last event.
  public var end = Instant.zero

  /// Makes an empty story.
  public init() {}

  /// A peer or server of the scenario.
  public struct Participant: Hashable, Sendable {
    /// The part that a participant plays.
    public enum Role: String, Sendable { case peer, puppet, program, server }
    /// The name in the scenario.
    public var name: String
    /// The part that it plays.
    public var role: Role
  }

  /// A state machine of a subject, or a flag that is treated as one: `alice`, or `alice/connection/2`.
  public struct Machine: Hashable, Sendable {
    /// A change of the state.
    public struct Change: Hashable, Sendable {
      /// The position among all elements of the story.
      public var order: Int
      /// The time of the change.
      public var time: Instant
      /// The new state.
      public var value: String
      /// Whether this is the machine's initial state.
      public var isInitial: Bool
    }

    /// The subject in the trace.
    public var subject: String
    /// The name of the machine: `call.state`.
    public var name: String
    /// The states, in order.
    public var changes: Bounded<Change>
  }

  /// A fault of the timeline, from its start to its end.
  public struct FaultInterval: Hashable, Sendable {
    /// The id of its timeline entry.
    public var entry: String
    /// The kind: `link.down`.
    public var kind: String
    /// The kind with its arguments: `link.down alice/wifi`.
    public var label: String
    /// The participants that it affects; empty where it may be any.
    public var targets: [String]
    /// Whether it lasts until it is cleared; otherwise it is over at once.
    public var lasts: Bool
    /// The position of the start among all elements of the story.
    public var order: Int
    /// The time of the start.
    public var start: Instant
    /// The position of the end among all elements of the story; nil while the fault lasts.
    public var endOrder: Int?
    /// The time of the end; nil while the fault lasts.
    public var end: Instant?
  }

  /// A firing of a timeline entry.
  public struct Firing: Hashable, Sendable {
    /// The position among all elements of the story.
    public var order: Int
    /// The time of the firing.
    public var time: Instant
    /// The id of the entry.
    public var entry: String
  }

  /// An action of a peer's user.
  public struct UserAction: Hashable, Sendable {
    /// The position among all elements of the story.
    public var order: Int
    /// The time of the action.
    public var time: Instant
    /// The name of the peer.
    public var peer: String
    /// The name of the action.
    public var action: String
    /// The target of the action, such as the called user.
    public var target: String
    /// Whether the app refused the action.
    public var isRefused = false
  }

  /// An event worth reading: an error, a refusal, an end code, an ICE restart.
  public struct Note: Hashable, Sendable {
    /// The position among all elements of the story.
    public var order: Int
    /// The time of the event.
    public var time: Instant
    /// The subject in the trace.
    public var subject: String
    /// The kind of the event: `call.ended`.
    public var kind: String
    /// The end or error code in the event.
    public var code: String?
    /// The event in words: `ended with declined`.
    public var text: String
  }

  /// A signalling message, as its sender described it, and its fate.
  public struct Message: Hashable, Sendable {
    /// The arrival of one copy.
    public struct Receipt: Hashable, Sendable {
      /// The position among all elements of the story.
      public var order: Int
      /// The time of the arrival.
      public var time: Instant
    }

    /// The position of the sending among all elements of the story.
    public var order: Int
    /// The name of the sender.
    public var from: String
    /// The name of the receiver.
    public var to: String
    /// The type of the message.
    public var type: String
    /// The time of sending.
    public var sent: Instant
    /// Whether the sender had no connection to carry it.
    public var isUnsent: Bool
    /// The effects of faults on it at the signalling server.
    public var effects: [String] = []
    /// The time at which a fault affected it; nil if none did.
    public var faulted: Instant?
    /// The arrivals at its receiver, one per copy.
    public var receipts: [Receipt] = []
  }

  /// A candidate pair that a connection sent over.
  public struct PairInterval: Hashable, Sendable {
    /// The subject of the connection in the trace.
    public var subject: String
    /// The local candidate: `host 192.0.2.2:5000`.
    public var local: String
    /// The remote candidate.
    public var remote: String
    /// The time at which the pair was selected.
    public var start: Instant
    /// The time at which the pair was last in use; nil while it is in use.
    public var end: Instant?
  }

  /// Media from one subject to another, in bytes sent and received.
  public struct MediaFlow: Hashable, Sendable {
    /// The sender; nil if it is unknown.
    public var from: String?
    /// The receiver; nil if it is unknown.
    public var to: String?
    /// The bytes sent over time.
    public var sent: BinnedSeries
    /// The bytes received over time.
    public var received: BinnedSeries
    /// The times in which media arrived without a pause of a second.
    public var intervals: Bounded<Span>
  }

  /// A part of the run.
  public struct Span: Hashable, Sendable {
    /// The start of the span.
    public var start: Instant
    /// The end of the span.
    public var end: Instant
  }

  /// The packets that were dropped for one reason at one place.
  public struct DropSeries: Hashable, Sendable {
    /// The reason in the trace.
    public var reason: String
    /// The place in the trace: `link/alice/wifi/tx`.
    public var place: String
    /// The number of packets over time.
    public var counts: BinnedSeries
  }

  /// A measured quantity of a subject over time.
  public struct Gauge: Hashable, Sendable {
    /// The quantity that a gauge measures.
    public enum Quantity: String, Sendable, CaseIterable {
      /// The round-trip time, in seconds.
      case roundTrip = "round-trip"
      /// The share of packets lost since the previous sample.
      case loss
      /// The mean delay in the jitter buffer of the audio played since the previous sample, in seconds.
      case bufferDelay = "buffer-delay"
      /// The pictures shown per second since the previous sample.
      case frameRate = "frame-rate"
      /// The bandwidth that the sender estimates for the selected pair (W3C `availableOutgoingBitrate`), in bits per
      /// second.
      case bandwidth
    }

    /// The subject in the trace.
    public var subject: String
    /// The measured quantity.
    public var quantity: Quantity
    /// The samples.
    public var points: ThinnedSeries
  }
}

extension RunStory {
  /// Returns whether a subject is a participant or a part of it: `alice/connection/2` is a part of `alice`.
  public static func isSubject(_ subject: String, of participant: String) -> Bool {
    subject == participant || subject.hasPrefix(participant + "/")
  }

  /// Returns a machine of a subject; nil if it never had a state.
  public func machine(_ name: String, of subject: String) -> Machine? {
    machines.first { $0.subject == subject && $0.name == name }
  }

  /// Returns a smaller story for a run that needs no examination: with coarser series, and lists reduced to their
  /// beginning and end.
  public func thinned() -> RunStory {
    var story = self
    for index in machines.indices { story.machines[index].changes.limit(to: 24) }
    story.firings.limit(to: 32)
    story.userActions.limit(to: 32)
    story.notes.limit(to: 16)
    story.pairs.limit(to: 8)
    story.omittedMessages += max(0, messages.count - 60)
    story.messages = Array(messages.prefix(60))
    for index in flows.indices {
      story.flows[index].sent.limit(to: 48)
      story.flows[index].received.limit(to: 48)
      story.flows[index].intervals.limit(to: 16)
    }
    for index in drops.indices { story.drops[index].counts.limit(to: 48) }
    for index in gauges.indices { story.gauges[index].points.limit(to: 48) }
    return story
  }
}
