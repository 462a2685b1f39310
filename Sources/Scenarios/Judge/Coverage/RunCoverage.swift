internal import CallCore

/// The parts of the declared behaviour of each profile that one run reached: transitions, events in the states of the
/// main machine, codes and messages.
///
/// A ``CoverageCollector`` fills it in. Peers of one profile are counted together. All lists are sorted, so that equal
/// runs give equal values. Puppets and programs have no coverage: they do not run the profile's app.
package struct RunCoverage: Hashable, Sendable {
  /// The profiles with a peer in the run, by name.
  package var profiles: [Profile] = []

  package init() {}

  /// Returns the coverage of a profile.
  package func profile(_ name: String) -> Profile? { profiles.first { $0.name == name } }

  /// The coverage of one profile.
  package struct Profile: Hashable, Sendable {
    /// The profile's name.
    package var name: String
    /// The transitions taken, of the profile's machines and of those of its peer connections.
    package var transitions: [Counted<Transition>] = []
    /// The transitions that the app asked for and the vocabulary does not allow. The machine stayed where it was.
    package var illegal: [Counted<Transition>] = []
    /// The events in the states of the main machine.
    package var events: [Counted<StateEvent>] = []
    /// The main states of all peers of the profile, in the order of the file, after each change of one of them.
    package var joint: [Counted<JointState>] = []
    /// The end codes of calls.
    package var endCodes: [Counted<String>] = []
    /// The error codes that were raised.
    package var errorCodes: [Counted<String>] = []
    /// The messages that peers sent, by type. A message without a connection to carry it is not sent.
    package var sent: [Counted<String>] = []
    /// The messages that peers received, by type.
    package var received: [Counted<String>] = []

    package init(_ name: String) { self.name = name }
  }

  /// Something with the number of its occurrences.
  package struct Counted<Element: Hashable & Sendable & Comparable>: Hashable, Sendable {
    package var element: Element
    package var count: Int

    package init(_ element: Element, _ count: Int) { (self.element, self.count) = (element, count) }
  }

  /// A transition with the word that the app gives for its cause; connections give none.
  package struct Transition: Hashable, Sendable, Comparable {
    package var machine: String
    package var from: String
    package var to: String
    package var event: String

    package init(_ machine: String, _ from: String, _ to: String, on event: String) {
      (self.machine, self.from, self.to, self.event) = (machine, from, to, event)
    }

    package static func < (a: Self, b: Self) -> Bool {
      (a.machine, a.from, a.to, a.event) < (b.machine, b.from, b.to, b.event)
    }
  }

  /// The origin of an event in a state.
  package enum EventKind: String, Sendable, CaseIterable {
    /// A signalling message was received.
    case message
    /// The user acted.
    case action
    /// A link of the peer went up or down, or the device prefers another network.
    case network
    /// The app's own word for the cause of a transition: a timer, or anything else.
    case cause
  }

  /// An event in a state of the main machine.
  package struct StateEvent: Hashable, Sendable, Comparable {
    package var state: String
    package var kind: EventKind
    package var name: String
    /// Whether a transition of the main machine followed from it, in the same instant.
    package var isFollowed: Bool

    package init(_ state: String, _ kind: EventKind, _ name: String, isFollowed: Bool) {
      (self.state, self.kind, self.name, self.isFollowed) = (state, kind, name, isFollowed)
    }

    package static func < (a: Self, b: Self) -> Bool {
      (a.state, a.kind.rawValue, a.name, a.isFollowed ? 1 : 0)
        < (b.state, b.kind.rawValue, b.name, b.isFollowed ? 1 : 0)
    }
  }

  /// The main states of several peers at one time.
  package struct JointState: Hashable, Sendable, Comparable {
    package var states: [String]

    package init(_ states: [String]) { self.states = states }

    package static func < (a: Self, b: Self) -> Bool { a.states.lexicographicallyPrecedes(b.states) }
  }
}

// MARK: Features

extension RunCoverage {
  /// A thing that a run reached, as the hash of its name: the same in every process and on every machine.
  package struct Feature: Hashable, Sendable {
    package var hash: UInt64
    /// The number of times in the run. Its power of two is the usual measure of novelty: 1, 2 to 3, 4 to 7 and so on.
    package var count: Int
  }

  /// The features of the run, by hash, each once: transitions, events in states, joint states, codes and messages.
  package var features: [Feature] {
    var features: [Feature] = []
    for profile in profiles {
      let add = { (parts: [String], count: Int) in
        features.append(Feature(hash: Self.hash([profile.name] + parts), count: count))
      }
      for item in profile.transitions {
        add([item.element.machine, item.element.from, item.element.to, item.element.event], item.count)
      }
      for item in profile.illegal {
        add(["illegal", item.element.machine, item.element.from, item.element.to, item.element.event], item.count)
      }
      for item in profile.events {
        let event = item.element
        add(["main", event.state, "\(event.kind.rawValue) \(event.name)", event.isFollowed ? "1" : "0"], item.count)
      }
      for item in profile.joint { add(["joint"] + item.element.states, item.count) }
      for (name, list) in [
        ("end", profile.endCodes), ("error", profile.errorCodes), ("sent", profile.sent),
        ("received", profile.received),
      ] {
        for item in list { add([name, item.element], item.count) }
      }
    }
    var merged: [Feature] = []
    for feature in features.sorted(by: { $0.hash < $1.hash }) {
      if merged.last?.hash == feature.hash {
        merged[merged.count - 1].count += feature.count
      } else {
        merged.append(feature)
      }
    }
    return merged
  }

  /// Returns the 64-bit FNV-1a hash of the parts with `|` between them.
  package static func hash(_ parts: [String]) -> UInt64 {
    FNV1a.hash(of: parts.joined(separator: "|"))
  }
}
