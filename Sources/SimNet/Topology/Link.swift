internal import CallCore

/// A link's name and its two ends; its two directions are ``Wire``s.
struct Link {
  enum Ends {
    /// A host's attachment to a network.
    case attachment(InterfaceID)
    /// A network's uplink to its parent.
    case uplink(NetworkID)
  }

  let name: String
  let ends: Ends
  let subject: TraceSubject
}
