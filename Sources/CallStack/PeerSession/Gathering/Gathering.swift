internal import CallCore

/// One gathering of candidates for one generation of credentials.
struct Gathering {
  /// One of our addresses. The driver's first socket identifies it; an ICE restart gathers on another socket.
  struct Place {
    let interface: Endpoint
    /// The socket to gather on; nil until the driver has opened it.
    var socket: Endpoint?
  }

  /// The session's transport and its generation of credentials.
  let transport: Int
  let generation: Int
  var places: [Place]
  /// Whether the servers have been asked.
  var hasBegun = false

  /// All sockets; nil until all are open.
  var sockets: [Endpoint]? {
    let open = places.compactMap(\.socket)
    return open.count == places.count ? open : nil
  }
}
