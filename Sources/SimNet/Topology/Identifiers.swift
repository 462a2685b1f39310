/// A host of a ``Simulator``.
public struct HostID: Hashable, Sendable, BitwiseCopyable {
  let index: Int
}

/// A network of a ``Simulator``.
public struct NetworkID: Hashable, Sendable, BitwiseCopyable {
  let index: Int
}

/// A link of a ``Simulator``: a host's attachment to a network, or a network's uplink to its parent.
public struct LinkID: Hashable, Sendable, BitwiseCopyable {
  let index: Int

  func direction(_ direction: LinkDirection) -> Int { index * 2 + (direction == .tx ? 0 : 1) }
}

/// A host's network interface.
public struct InterfaceID: Hashable, Sendable, BitwiseCopyable {
  let index: Int
}

/// A direction of a link, seen from the host or child network it belongs to.
public enum LinkDirection: String, CaseIterable, Sendable {
  /// Away from the host, up from the child network.
  case tx
  /// Towards the host, down to the child network.
  case rx
}
