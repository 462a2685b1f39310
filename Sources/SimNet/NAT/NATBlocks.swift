import CallCore

/// The owners of the blocks of ports, on every external address.
///
/// A block begins at a multiple of its size above the lowest port; remaining ports that fill no block are never used.
struct NATBlocks {
  private struct Block {
    var owner: IPAddress
    /// The number of its ports that are in use or at rest, UDP and TCP together.
    var uses = 0
  }

  private let size: Int
  private let range: ClosedRange<UInt16>
  /// The blocks of each address in order of their ports; nil for a free block.
  private var blocks: [[Block?]]
  var events = FIFO<NATEvent>()

  init(_ configuration: PortBlocks, range: ClosedRange<UInt16>, addressCount: Int) {
    size = configuration.size
    self.range = range
    blocks = Array(repeating: Array(repeating: nil, count: range.count / configuration.size), count: addressCount)
  }

  /// The number of blocks of an address.
  var count: Int { range.count / size }

  func ports(of block: Int) -> ClosedRange<UInt16> {
    let first = range.lowerBound + UInt16(block * size)
    return first...(first + UInt16(size - 1))
  }

  private func block(of port: UInt16) -> Int { Int(port - range.lowerBound) / size }

  /// Gives the host the first free block at or after `start`; returns nil if all are taken.
  mutating func take(for host: IPAddress, on index: Int, address: IPAddress, from start: Int) -> Int? {
    let order = Array(start..<count) + Array(0..<min(start, count))
    guard let free = order.first(where: { blocks[index][$0] == nil }) else { return nil }
    blocks[index][free] = Block(owner: host)
    events.append(.blockTaken(NATBlock(host: host, address: address, ports: ports(of: free))))
    return free
  }

  /// Counts a port of a block as in use.
  mutating func use(_ port: UInt16, on index: Int) { blocks[index][block(of: port)]?.uses += 1 }

  /// Counts a port as free; returns the block and its owner if that was the last one in use.
  mutating func release(_ port: UInt16, on index: Int, address: IPAddress) -> (block: Int, owner: IPAddress)? {
    let number = block(of: port)
    guard var block = blocks[index][number] else { return nil }
    block.uses -= 1
    blocks[index][number] = block.uses > 0 ? block : nil
    guard block.uses == 0 else { return nil }
    events.append(.blockFreed(NATBlock(host: block.owner, address: address, ports: ports(of: number))))
    return (number, block.owner)
  }

  /// Frees all blocks. `old` are the addresses until now, and `new` is the number of addresses from now on.
  mutating func forget(on old: [IPAddress], addresses new: Int) {
    for (index, address) in old.enumerated() {
      for number in 0..<count {
        guard let owner = blocks[index][number]?.owner else { continue }
        events.append(.blockFreed(NATBlock(host: owner, address: address, ports: ports(of: number))))
      }
    }
    blocks = Array(repeating: Array(repeating: nil, count: count), count: new)
  }
}
