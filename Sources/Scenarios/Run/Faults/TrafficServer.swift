internal import CallCore
internal import SimNet
internal import VirtualPeer

/// The server on the internet with which other apps of devices exchange bytes.
final class TrafficServer {
  /// The first line of a connection.
  struct Request {
    var isLoading: Bool
    /// The bytes to load or send; nil without end.
    var size: Int?

    init(isLoading: Bool, size: Int?) { (self.isLoading, self.size) = (isLoading, size) }

    init?(_ line: some StringProtocol) {
      let words = line.split(separator: " ")
      guard words.count == 2, ["GET", "PUT"].contains(words[0]) else { return nil }
      (isLoading, size) = (words[0] == "GET", Int(words[1]))
    }

    var text: String { "\(isLoading ? "GET" : "PUT") \(size.map { "\($0)" } ?? "*")\n" }
  }

  private static let port: UInt16 = 80

  private let runtime: HostRuntime
  private let addresses: [IPAddress]

  init(_ runtime: HostRuntime) {
    self.runtime = runtime
    addresses = runtime.network.activeInterfaces.flatMap(\.addresses)
    runtime.network.listen(on: Self.port) { [clock = runtime.clock] in Self.serve($0, clock) }
  }

  /// Returns where a host reaches the server; nil while it has no address of a family of the server's.
  func endpoint(for network: PeerNetwork) -> Endpoint? {
    let own = network.activeInterfaces.flatMap(\.addresses)
    let address = addresses.first { address in own.contains { $0.isIPv6 == address.isIPv6 } }
    return address.map { Endpoint($0, port: Self.port) }
  }

  /// Serves one connection: what it holds ends with it.
  private static func serve(_ stream: PeerStream, _ clock: PeerClock) {
    var (line, request, received) = ([UInt8](), Request?.none, 0)
    var pump: StreamPump?
    stream.onEvent = { [unowned stream] event in
      switch event {
      case .connected: break
      case .received(let bytes):
        var bytes = bytes[...]
        if request == nil {
          let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
          line += bytes[..<(end ?? bytes.endIndex)]
          guard let end else { return }
          bytes = bytes[(end + 1)...]
          request = Request(String(decoding: line, as: UTF8.self))
          guard let request else { return stream.abort() }
          if request.isLoading {
            pump = StreamPump(request.size, into: stream, clock) { [unowned stream] in stream.close() }
            pump?.run()
          }
        }
        received += bytes.count
        if let request, !request.isLoading, received == request.size { stream.close() }
      case .closed:
        pump?.stop()
        pump = nil
      }
    }
  }
}
