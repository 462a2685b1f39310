internal import CallCore
internal import SimNet

/// The desired interfaces of a namespace's kernel, and the commands that lead there from its present state. The changes
/// cause real link and address events, which programs listen for.
struct KernelInterfaces: Equatable {
  struct Entry: Equatable {
    var device: String
    var isUp: Bool
    var mtu: Int
    var addresses: [IPPrefixAddress]
    /// The route metric; lower is preferred.
    var metric: Int
  }

  struct IPPrefixAddress: Equatable {
    var address: IPAddress
    var prefixLength: Int
  }

  var entries: [Entry] = []

  /// Returns the device name of an interface. Programs derive the network type from the name.
  static func device(of type: NetworkType, number: Int) -> String {
    switch type {
    case .wifi: "wlan\(number)"
    case .cellular: "wwan\(number)"
    case .vpn: "vpn\(number)"
    case .bluetooth: "bnep\(number)"
    case .ethernet, .unknown: "eth\(number)"
    }
  }

  /// Returns the lines for `ip -batch` that turn `before` into this state. Interfaces that go down come first, so that
  /// routes have moved when programs look.
  func commands(from before: KernelInterfaces) -> [String] {
    var lines: [String] = []
    for entry in entries where !entry.isUp {
      if before.entry(entry.device)?.isUp != false { lines += down(entry.device) }
    }
    for entry in entries where entry.isUp {
      let old = before.entry(entry.device)
      guard entry != old else { continue }
      if let old, old.isUp, old.mtu == entry.mtu {
        lines += change(old, to: entry)
      } else {
        lines += up(entry)
      }
    }
    return lines
  }

  private func entry(_ device: String) -> Entry? { entries.first { $0.device == device } }

  private func down(_ device: String) -> [String] { ["link set dev \(device) down", "addr flush dev \(device)"] }

  private func up(_ entry: Entry) -> [String] {
    ["link set dev \(entry.device) addrgenmode none mtu \(entry.mtu) up"]
      + entry.addresses.map { add($0, to: entry.device) }
      + routes(of: entry, "append")
  }

  private func change(_ old: Entry, to new: Entry) -> [String] {
    if old.addresses == new.addresses {
      return defaults(of: new).flatMap { prefix in
        ["route append \(prefix) dev \(new.device) metric \(new.metric)"]
          + ["route del \(prefix) dev \(new.device) metric \(old.metric)"]
      }
    }
    guard old.metric == new.metric else { return down(new.device) + up(new) }
    // Adds before it removes: the kernel drops the routes of a family with its last address.
    let added = new.addresses.filter { !old.addresses.contains($0) }.map { add($0, to: new.device) }
    let removed = old.addresses.filter { !new.addresses.contains($0) }.map {
      "addr del \($0.address)/\($0.prefixLength) dev \(new.device)"
    }
    return added + removed + routes(of: new, "replace")
  }

  private func add(_ address: IPPrefixAddress, to device: String) -> String {
    "addr add \(address.address)/\(address.prefixLength) dev \(device)" + (address.address.isIPv6 ? " nodad" : "")
  }

  /// - Parameter command: `append` for a metric that is new to the interface: another interface may have it until its
  ///   own line runs, and `replace` would remove that interface's route.
  private func routes(of entry: Entry, _ command: String) -> [String] {
    defaults(of: entry).map { "route \(command) \($0) dev \(entry.device) metric \(entry.metric)" }
  }

  /// Returns the default route of each address family of the interface.
  private func defaults(of entry: Entry) -> [String] {
    let families = Set(entry.addresses.map(\.address.isIPv6))
    return (families.contains(false) ? ["0.0.0.0/0"] : []) + (families.contains(true) ? ["::/0"] : [])
  }
}

extension KernelInterfaces: CustomStringConvertible {
  /// `wlan0 up 192.168.1.2/24, wwan0 down`
  var description: String {
    entries.map { entry in
      guard entry.isUp else { return "\(entry.device) down" }
      return "\(entry.device) up " + entry.addresses.map { "\($0.address)/\($0.prefixLength)" }.joined(separator: " ")
    }.joined(separator: ", ")
  }
}
