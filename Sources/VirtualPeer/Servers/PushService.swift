internal import CallCore

/// The push service of a world (Apple's APNs): what servers hand it reaches the devices of a user after their delay.
///
/// It is not on the simulated network: the service's own connection to a device is modelled as the delay, and a push
/// to a device without a network is lost.
package final class PushService {
  private var devices: [(user: String, take: (_ payload: [String: String]) -> Void)] = []

  package init() {}

  /// Adds the device of a user.
  package func add(_ peer: VirtualPeer) { devices.append((peer.userID, { [unowned peer] in peer.push($0) })) }

  func send(_ payload: [String: String], to user: String) {
    for device in devices where device.user == user { device.take(payload) }
  }
}
