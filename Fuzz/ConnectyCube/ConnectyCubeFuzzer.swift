import CallCore
import FuzzHarness
import Profiles
import VirtualPeer

/// Frames of the chat: XML by expat, and the signals of calls in it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzConnectyCube(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { input in
    guard let text = String(validating: input.copied, as: UTF8.self),
      case .message(let content) = ConnectyCubeServer.frame(of: text)
    else { return 0 }
    // Names that XML cannot have are lost once, and nothing after that.
    let written = ConnectyCubeServer.text(of: content, in: text)
    guard case .message(let read) = ConnectyCubeServer.frame(of: written) else {
      require(false, "a signal is lost: \(written)")
      return 0
    }
    let again = ConnectyCubeServer.text(of: read, in: written)
    require(ConnectyCubeServer.frame(of: again) == .message(read), "a signal does not survive: \(again)")
    return 1
  }
}
