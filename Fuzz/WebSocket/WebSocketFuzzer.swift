import CallCore
import FuzzHarness
import VirtualPeer

/// Bytes at both ends of a WebSocket, before and after its handshake; how they are cut must not matter.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebSocket(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { input in
    let bytes = input.copied
    var seen = 0
    for role in [WebSocket.Role.client, .server] {
      for isOpen in [false, true] {
        let whole = run(role, isOpen: isOpen, bytes, pieces: max(1, bytes.count))
        require(run(role, isOpen: isOpen, bytes, pieces: 1) == whole, "\(role) reads single bytes differently")
        require(run(role, isOpen: isOpen, bytes, pieces: 5) == whole, "\(role) reads pieces differently")
        seen += whole.events.count + whole.output.count
      }
    }
    return seen
  }
}

private struct Outcome: Equatable {
  var events: [WebSocket.Event] = []
  var output: [UInt8] = []
}

private func run(_ role: WebSocket.Role, isOpen: Bool, _ bytes: [UInt8], pieces: Int) -> Outcome {
  var socket = WebSocket(role, host: "example.org", random: RandomStream(seed: 1))
  if isOpen { open(&socket) }
  var outcome = Outcome()
  for start in stride(from: 0, to: bytes.count, by: pieces) {
    socket.receive(Array(bytes[start..<min(bytes.count, start + pieces)]))
    outcome.output += socket.takeOutput()
    while let event = socket.nextEvent() { outcome.events.append(event) }
  }
  return outcome
}

/// Lets another end finish the handshake.
private func open(_ socket: inout WebSocket) {
  var other = WebSocket(
    socket.role == .client ? .server : .client, host: "example.org", random: RandomStream(seed: 2))
  for _ in 0..<2 {
    other.receive(socket.takeOutput())
    socket.receive(other.takeOutput())
  }
  while socket.nextEvent() != nil {}
  require(socket.isOpen, "the handshake failed")
}
