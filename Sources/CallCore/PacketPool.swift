/// A reference to one packet's bytes in a ``PacketPool``.
public struct PacketHandle: Hashable, Sendable, BitwiseCopyable {
  @usableFromInline let slot: UInt32
  @usableFromInline init(slot: UInt32) { self.slot = slot }
}

/// A slab of fixed-size packet slots with a free list: the network passes handles and never copies.
///
/// Bytes are immutable while shared; a duplicate in flight is one more reference to the same slot.
///
/// - Complexity: every operation is O(1) besides the copy in; memory never shrinks and is reused for the whole run.
public struct PacketPool: ~Copyable {
  /// The largest datagram a slot holds.
  public static let slotSize = 1_536

  @usableFromInline static let slotsPerChunk = 256
  @usableFromInline var chunks: [UnsafeMutableRawPointer] = []
  @usableFromInline var lengths: [UInt16] = []
  @usableFromInline var references: [UInt32] = []
  @usableFromInline var free: [UInt32] = []

  /// Makes a pool without memory; the first packet allocates.
  public init() {}

  deinit {
    for chunk in chunks { chunk.deallocate() }
  }

  /// The number of packets alive: zero if the network is quiet.
  @inlinable public var liveCount: Int { references.count - free.count }

  /// Copies `bytes` into a slot with one reference; returns nil if they exceed ``slotSize``.
  @inlinable public mutating func allocate(copying bytes: RawSpan) -> PacketHandle? {
    guard bytes.byteCount <= Self.slotSize else { return nil }
    if free.isEmpty { grow() }
    let slot = free.removeLast()
    lengths[Int(slot)] = UInt16(bytes.byteCount)
    references[Int(slot)] = 1
    bytes.withUnsafeBytes { source in
      if let base = source.baseAddress { address(of: slot).copyMemory(from: base, byteCount: source.count) }
    }
    return PacketHandle(slot: slot)
  }

  /// Passes a slot with one reference to `write`, with room for ``maximumDatagramSize`` bytes.
  @inlinable public mutating func allocate(writing write: (inout OutputSpan<UInt8>) -> Void) -> PacketHandle {
    if free.isEmpty { grow() }
    let slot = free.removeLast()
    let memory = UnsafeMutableBufferPointer(
      start: address(of: slot).bindMemory(to: UInt8.self, capacity: maximumDatagramSize), count: maximumDatagramSize)
    var output = OutputSpan(buffer: memory, initializedCount: 0)
    write(&output)
    lengths[Int(slot)] = UInt16(output.finalize(for: memory))
    references[Int(slot)] = 1
    return PacketHandle(slot: slot)
  }

  /// Adds a reference to a packet.
  @inlinable public mutating func retain(_ handle: PacketHandle) { references[Int(handle.slot)] += 1 }

  /// Removes a reference to a packet; the last one frees its slot.
  @inlinable public mutating func release(_ handle: PacketHandle) {
    let index = Int(handle.slot)
    precondition(references[index] > 0, "a released packet was released again")
    references[index] -= 1
    if references[index] == 0 { free.append(handle.slot) }
  }

  /// Returns the number of bytes of a packet.
  @inlinable public func byteCount(of handle: PacketHandle) -> Int { Int(lengths[Int(handle.slot)]) }

  /// Lends the packet's bytes.
  @inlinable public func withBytes<Result>(of handle: PacketHandle, _ body: (RawSpan) -> Result) -> Result {
    let buffer = UnsafeRawBufferPointer(start: address(of: handle.slot), count: byteCount(of: handle))
    return body(buffer.bytes)
  }

  /// Returns the packet's bytes without a scope, for a receiver that may use the pool while it reads them.
  ///
  /// They neither move nor change while the caller holds a reference to the packet.
  package func unsafeBytes(of handle: PacketHandle) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: address(of: handle.slot), count: byteCount(of: handle))
  }

  @usableFromInline func address(of slot: UInt32) -> UnsafeMutableRawPointer {
    let (chunk, index) = Int(slot).quotientAndRemainder(dividingBy: Self.slotsPerChunk)
    return chunks[chunk] + index * Self.slotSize
  }

  @usableFromInline mutating func grow() {
    let first = UInt32(references.count)
    chunks.append(.allocate(byteCount: Self.slotsPerChunk * Self.slotSize, alignment: 16))
    lengths += Array(repeating: 0, count: Self.slotsPerChunk)
    references += Array(repeating: 0, count: Self.slotsPerChunk)
    free += (first..<first + UInt32(Self.slotsPerChunk)).reversed()
  }
}
