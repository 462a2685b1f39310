internal import CallCore

/// One gathering of candidates: for which credentials, and from which sockets.
struct Gathering {
  /// One address of ours. The socket that the driver named it by stands for it; an ICE restart gathers on another.
  struct Place {
    let interface: Endpoint
    /// Nil while the driver has yet to open it.
    var socket: Endpoint?
  }

  /// The session's transport and its generation of credentials.
  let transport: Int
  let generation: Int
  var places: [Place]
  /// Whether servers are being asked, or have been.
  var hasBegun = false

  /// All sockets, once all are open.
  var sockets: [Endpoint]? {
    let open = places.compactMap(\.socket)
    return open.count == places.count ? open : nil
  }
}
