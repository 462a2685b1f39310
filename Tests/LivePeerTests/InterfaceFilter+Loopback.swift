@testable import LivePeer

extension InterfaceFilter {
  /// This machine alone.
  static var loopback: InterfaceFilter {
    var filter = InterfaceFilter()
    filter.allowsLoopback = true
    filter.names = ["lo"]
    return filter
  }
}
