internal import CallCore
internal import SimNet

/// What the kernel of a namespace is to show of the simulated host's interfaces, and how to get there from what it
/// shows now: as real link and address events, which programs listen for.
struct KernelInterfaces: Equatable {
  struct Entry: Equatable {
    var device: String
    var isUp: Bool
    var mtu: Int
    var addresses: [IPPrefixAddress]
    /// Lower is preferred.
    var metric: Int
  }

  struct IPPrefixAddress: Equatable {
    var address: IPAddress
    var prefixLength: Int
  }

  var entries: [Entry] = []

  /// What a kernel calls the interface: by its kind, so that programs which tell kinds by names are told the truth.
  static func device(of type: NetworkType, number: Int) -> String {
    switch type {
    case .wifi: "wlan\(number)"
    case .cellular: "wwan\(number)"
    case .vpn: "vpn\(number)"
    case .bluetooth: "bnep\(number)"
    case .ethernet, .unknown: "eth\(number)"
    }
  }

  /// The lines for `ip -batch` that turn `before` into this: what goes down first, so that routes have moved when
  /// programs look.
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
    // With the last address of a family its routes would go.
    let added = new.addresses.filter { !old.addresses.contains($0) }.map { add($0, to: new.device) }
    let removed = old.addresses.filter { !new.addresses.contains($0) }.map {
      "addr del \($0.address)/\($0.prefixLength) dev \(new.device)"
    }
    return added + removed + routes(of: new, "replace")
  }

  private func add(_ address: IPPrefixAddress, to device: String) -> String {
    "addr add \(address.address)/\(address.prefixLength) dev \(device)" + (address.address.isIPv6 ? " nodad" : "")
  }

  /// - Parameter command: `append` for a metric that the interface had not: another may have it until its own line comes,
  ///   and `replace` would take its route.
  private func routes(of entry: Entry, _ command: String) -> [String] {
    defaults(of: entry).map { "route \(command) \($0) dev \(entry.device) metric \(entry.metric)" }
  }

  /// Everything, in each family the interface has an address of.
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
