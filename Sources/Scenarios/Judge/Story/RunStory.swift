public import CallCore

/// What happened in one run, as people are shown it: the terminal's trail, the sequence diagram, the explanations and the
/// HTML report are made from this alone.
///
/// A ``StoryCollector`` writes it while the run goes on. However long the run, it stays of a bounded size: what is left
/// out of a list is counted.
public struct RunStory: Hashable, Sendable {
  /// Who takes part, in the order of the file.
  public var participants: [Participant] = []
  /// The states of every machine of every subject, in the order of their first state.
  public var machines: [Machine] = []
  public var faults: [FaultInterval] = []
  public var firings: Bounded<Firing> = .init(limit: 256)
  public var deeds: Bounded<Deed> = .init(limit: 256)
  public var notes: Bounded<Note> = .init(limit: 512)
  public var messages: [Message] = []
  /// Messages beyond those that are kept.
  public var omittedMessages = 0
  public var pairs: Bounded<PairInterval> = .init(limit: 128)
  public var flows: [MediaFlow] = []
  public var drops: [DropSeries] = []
  public var gauges: [Gauge] = []
  /// The time of the last event.
  public var end = Instant.zero

  public init() {}

  public struct Participant: Hashable, Sendable {
    public enum Role: String, Sendable { case peer, puppet, program, server }
    public var name: String
    public var role: Role
  }

  /// A state machine, or a flag that is watched as one, of a subject: `alice`, or `alice/connection/2`.
  public struct Machine: Hashable, Sendable {
    public struct Change: Hashable, Sendable {
      /// The place among all that the story tells.
      public var order: Int
      public var time: Instant
      public var value: String
      /// Whether the machine began so.
      public var isInitial: Bool
    }

    public var subject: String
    public var name: String
    public var changes: Bounded<Change>
  }

  /// A fault of the timeline, from when it was laid over the world until it was taken away.
  public struct FaultInterval: Hashable, Sendable {
    /// The entry of the timeline.
    public var entry: String
    /// `link.down`
    public var kind: String
    /// The kind with its arguments: `link.down alice/wifi`.
    public var label: String
    /// The participants that it is laid over; empty where it may be anybody.
    public var targets: [String]
    /// Whether it goes on until it is cleared; else it is over when it has happened.
    public var lasts: Bool
    public var order: Int
    public var start: Instant
    public var endOrder: Int?
    public var end: Instant?
  }

  /// An entry of the timeline came.
  public struct Firing: Hashable, Sendable {
    public var order: Int
    public var time: Instant
    public var entry: String
  }

  /// What the user of a peer did.
  public struct Deed: Hashable, Sendable {
    public var order: Int
    public var time: Instant
    public var peer: String
    public var action: String
    public var target: String
    /// Whether the app refused it.
    public var isRefused = false
  }

  /// Something that a person would want to know of: an error, a refusal, an end code, an ICE restart.
  public struct Note: Hashable, Sendable {
    public var order: Int
    public var time: Instant
    public var subject: String
    /// `call.ended`
    public var kind: String
    /// The end or error code that it tells of.
    public var code: String?
    /// `ended with declined`
    public var text: String
  }

  /// A signalling message: what its sender said of it, and what became of it.
  public struct Message: Hashable, Sendable {
    public struct Receipt: Hashable, Sendable {
      public var order: Int
      public var time: Instant
    }

    public var order: Int
    public var from: String
    public var to: String
    public var type: String
    public var sent: Instant
    /// The sender had no connection to carry it.
    public var isUnsent: Bool
    /// What faults did to it at the signalling server.
    public var effects: [String] = []
    public var faulted: Instant?
    /// When its receiver had it, once for each copy.
    public var receipts: [Receipt] = []
  }

  /// The pair of candidates that a connection sent over.
  public struct PairInterval: Hashable, Sendable {
    public var subject: String
    /// `host 192.0.2.2:5000`
    public var local: String
    public var remote: String
    public var start: Instant
    public var end: Instant?
  }

  /// Media from one subject to another, as bytes that left one and came to the other.
  public struct MediaFlow: Hashable, Sendable {
    /// Nil where nobody was seen to send it.
    public var from: String?
    /// Nil where nobody was seen to receive it.
    public var to: String?
    public var sent: BinnedSeries
    public var received: BinnedSeries
    /// When it came without a pause of a second.
    public var intervals: Bounded<Span>
  }

  public struct Span: Hashable, Sendable {
    public var start: Instant
    public var end: Instant
  }

  /// Packets that were dropped for one reason at one place.
  public struct DropSeries: Hashable, Sendable {
    public var reason: String
    public var place: String
    public var counts: BinnedSeries
  }

  /// A measured quantity of a subject over time.
  public struct Gauge: Hashable, Sendable {
    public enum Quantity: String, Sendable, CaseIterable {
      /// In seconds.
      case roundTrip = "round-trip"
      /// The share of packets that did not come, since the sample before.
      case loss
      /// How long the samples that were played since the sample before had waited, in seconds.
      case bufferDelay = "buffer-delay"
    }

    public var subject: String
    public var quantity: Quantity
    public var points: ThinnedSeries
  }
}

extension RunStory {
  /// Whether a subject is a participant or something of it: `alice/connection/2` is of `alice`.
  public static func isSubject(_ subject: String, of participant: String) -> Bool {
    subject == participant || subject.hasPrefix(participant + "/")
  }

  public func machine(_ name: String, of subject: String) -> Machine? {
    machines.first { $0.subject == subject && $0.name == name }
  }

  /// The same in less, for a run that nobody has to look into: coarser series, and of lists the beginning and the end.
  public func thinned() -> RunStory {
    var story = self
    for index in machines.indices { story.machines[index].changes.limit(to: 24) }
    story.firings.limit(to: 32)
    story.deeds.limit(to: 32)
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
