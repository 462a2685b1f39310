internal import CallCore

/// The owner of an address of a network.
enum AddressOwner: BitwiseCopyable {
  case interface(InterfaceID)
  /// The outer side of a child network's router.
  case router(NetworkID)
}

/// Addresses and their owners: an open-addressed table, looked up at every hop.
struct AddressMap {
  private var slots: [(address: IPAddress, owner: AddressOwner?)] = []
  private var used = 0

  subscript(_ address: IPAddress) -> AddressOwner? {
    guard !slots.isEmpty else { return nil }
    return slots[slot(of: address)].owner
  }

  func contains(_ address: IPAddress) -> Bool { self[address] != nil }

  mutating func insert(_ address: IPAddress, _ owner: AddressOwner) {
    if used * 2 >= slots.count { rebuild(capacity: max(8, slots.count * 2)) }
    let index = slot(of: address)
    if slots[index].owner == nil { used += 1 }
    slots[index] = (address, owner)
  }

  mutating func remove(_ address: IPAddress) {
    guard contains(address) else { return }
    slots[slot(of: address)].owner = nil
    rebuild(capacity: slots.count)
  }

  private func slot(of address: IPAddress) -> Int {
    let mask = slots.count - 1
    var index = Int(truncatingIfNeeded: address.quickHash >> 32) & mask
    while slots[index].owner != nil, slots[index].address != address { index = (index + 1) & mask }
    return index
  }

  private mutating func rebuild(capacity: Int) {
    let old = slots
    slots = Array(repeating: (.anyIPv4, nil), count: capacity)
    used = 0
    for entry in old {
      guard let owner = entry.owner else { continue }
      slots[slot(of: entry.address)] = (entry.address, owner)
      used += 1
    }
  }
}
