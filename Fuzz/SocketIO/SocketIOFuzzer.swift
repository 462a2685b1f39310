import CallCore
import Formats
import FuzzHarness

/// JSON alone, and an Engine.IO packet with a Socket.IO packet with JSON in it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSocketIO(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { input in
    var seen = 0
    if let json = try? JSON(parsing: input.copied) {
      seen += 1
      for text in [json.description, json.prettyText] {
        require((try? JSON(parsing: text.utf8)) == json, "JSON does not survive: \(text)")
      }
    }
    guard let text = String(validating: input.copied, as: UTF8.self), let packet = EngineIOPacket(parsing: text) else {
      return seen
    }
    require(EngineIOPacket(parsing: packet.text) == packet, "an Engine.IO packet does not survive")
    guard let message = try? SocketIOPacket(parsing: packet.payload) else { return seen + 1 }
    require((try? SocketIOPacket(parsing: message.text)) == message, "a Socket.IO packet does not survive")
    return seen + 2
  }
}
