internal import CallCore

/// A packet on its way, without its bytes, which stay in the pool.
struct Flight: BitwiseCopyable {
  var header: PacketHeader
  var handle: PacketHandle
  /// The payload's length.
  var byteCount: UInt16
  /// The host that put it on the network.
  var sender: HostID
  /// The number of routers it may still pass: a routing loop must not become an endless loop of the program.
  var hopLimit: UInt8 = 64
  var isCopy = false
  /// Whether it is damaged so that the receiver's checksum fails.
  var failsChecksum = false
  /// The number of the packet among those that hosts sent; a duplicate has the number of its original.
  var number: UInt64
  /// The trace event that sent the packet.
  var cause: EventNumber
  /// The event that the packet waits for; any other event is stale.
  var event: UInt64 = 0
  /// The link direction it is crossing, and that direction's epoch when it entered.
  var wire: UInt32 = 0
  var wireEpoch: UInt32 = 0

  /// The IP packet's size.
  var wireByteCount: Int { Int(byteCount) + header.overhead }
}

/// The packets on their way, in reusable slots.
struct FlightTable: ~Copyable {
  private var flights = Table<Flight>()
  private var free: [UInt32] = []

  var liveCount: Int { flights.count - free.count }

  mutating func insert(_ flight: Flight) -> UInt32 {
    guard let slot = free.popLast() else { return UInt32(flights.append(flight)) }
    flights[Int(slot)] = flight
    return slot
  }

  mutating func remove(_ slot: UInt32) {
    flights[Int(slot)].event = 0
    free.append(slot)
  }

  subscript(_ slot: UInt32) -> Flight {
    @inline(__always) _read { yield flights[Int(slot)] }
    @inline(__always) _modify { yield &flights[Int(slot)] }
  }
}
