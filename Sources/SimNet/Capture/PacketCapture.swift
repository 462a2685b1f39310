public import CallCore

/// A tap that writes every packet at every interface to a pcapng capture.
///
/// Set it as ``Simulator/tap``, best before the first packet.
public final class PacketCapture: PacketTap {
  private var writer: PcapngWriter
  /// The numbers of the interfaces in the capture, by interface.
  private var interfaces: [PcapngWriter.Interface?] = []

  /// - Parameters:
  ///   - wallClock: turns virtual time into the capture's dates.
  ///   - sink: takes the bytes of the file in order; they are lent for the duration of the call.
  public init(wallClock: WallClock = WallClock(), sink: @escaping (RawSpan) -> Void) {
    writer = PcapngWriter(wallClock: wallClock, sink: sink)
  }

  /// The number of packets written.
  public var packetCount: UInt64 { writer.packetCount }

  /// Writes TLS secrets in the NSS key log format, with which Wireshark decrypts the packets after them.
  public func writeSecrets(keyLog text: String) { writer.writeSecrets(keyLog: text) }

  /// Declares an interface in the capture.
  public func added(_ interface: InterfaceID, name: String) {
    while interfaces.count <= interface.index { interfaces.append(nil) }
    if interfaces[interface.index] == nil { interfaces[interface.index] = writer.addInterface(name: name) }
  }

  /// Writes a packet to the capture.
  public func observed(
    _ payload: RawSpan, _ header: PacketHeader, on interface: InterfaceID, _ direction: LinkDirection,
    isDamaged: Bool, at now: Instant
  ) {
    guard interface.index < interfaces.count, let known = interfaces[interface.index] else { return }
    writer.write(
      payload, source: header.source, destination: header.destination, protocol: header.transport, ecn: header.ecn,
      on: known, direction: direction == .tx ? .outbound : .inbound, at: now)
  }
}
