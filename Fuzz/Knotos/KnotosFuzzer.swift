import CallCore
import Formats
import FuzzHarness
import Profiles

/// Events of Socket.IO, read as what Knotos' client and server say.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzKnotos(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { input in
    guard let text = String(validating: input.copied, as: UTF8.self), let packet = try? SocketIOPacket(parsing: text),
      case .event(let name, let arguments, _) = packet
    else { return 0 }
    return [false, true].count { isFromServer in
      KnotosMessage(name: name, arguments: arguments, isFromServer: isFromServer) != nil
    }
  }
}
