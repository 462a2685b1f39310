internal import CLinux
internal import Glibc

/// Which descriptors are ready, by `epoll(7)`: what it costs to learn depends on how many are ready, not on how many
/// there are.
///
/// Files and devices that epoll does not take, such as standard input from a file, are always ready, as `poll(2)` has it.
final class DescriptorQueue {
  private struct Watch {
    /// Tells it from an earlier one of the same number, whose readiness may still be on its way.
    let generation: UInt32
    var events: Int16
    let isAlwaysReady: Bool
    let ready: (Int16) -> Void
  }

  static let capacity = 64

  /// For `ppoll(2)`, which takes its deadline in nanoseconds: readable while a descriptor is ready.
  let descriptor: Int32 = epoll_create1(Int32(EPOLL_CLOEXEC))
  /// By descriptor.
  private var watches: [Watch?] = []
  private var alwaysReady: [Int32] = []
  private var generation: UInt32 = 0
  private let events = UnsafeMutablePointer<UInt32>.allocate(capacity: capacity)
  private let tags = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity)

  deinit {
    events.deallocate()
    tags.deallocate()
    close(descriptor)
  }

  // MARK: Watches

  func watch(_ watched: Int32, for events: Int16, ready: @escaping (Int16) -> Void) {
    while watches.count <= watched { watches.append(nil) }
    generation &+= 1
    let isTaken = change(watched, EPOLL_CTL_ADD, events, generation)
    watches[Int(watched)] = Watch(generation: generation, events: events, isAlwaysReady: !isTaken, ready: ready)
    if !isTaken { alwaysReady.append(watched) }
  }

  func rewatch(_ watched: Int32, for events: Int16) {
    guard watched >= 0, watched < watches.count, let watch = watches[Int(watched)], watch.events != events else {
      return
    }
    watches[Int(watched)]?.events = events
    if !watch.isAlwaysReady { _ = change(watched, EPOLL_CTL_MOD, events, watch.generation) }
  }

  func unwatch(_ watched: Int32) {
    guard watched >= 0, watched < watches.count, let watch = watches[Int(watched)] else { return }
    watches[Int(watched)] = nil
    if watch.isAlwaysReady {
      alwaysReady.removeAll { $0 == watched }
    } else {
      _ = change(watched, EPOLL_CTL_DEL, 0, 0)
    }
  }

  private func change(_ watched: Int32, _ operation: Int32, _ events: Int16, _ generation: UInt32) -> Bool {
    // The bits of poll are those of epoll.
    let tag = UInt64(generation) << 32 | UInt64(UInt32(bitPattern: watched))
    return epoll_change(descriptor, operation, watched, UInt32(UInt16(bitPattern: events)), tag) == 0
  }

  // MARK: Readiness

  /// Whether something is ready without waiting.
  var hasAlwaysReady: Bool { alwaysReady.contains { (watches[Int($0)]?.events ?? 0) != 0 } }

  /// Calls whoever is concerned. A watcher may add and remove watches, its own included.
  func callWatchers() {
    for watched in alwaysReady {
      guard let watch = watches[Int(watched)], watch.events != 0 else { continue }
      watch.ready(watch.events & Int16(POLLIN | POLLOUT))
    }
    let count = Int(epoll_take(descriptor, events, tags))
    var index = 0
    while index < count {
      let (watched, generation) = (Int(tags[index] & 0xFFFF_FFFF), UInt32(tags[index] >> 32))
      let result = Int16(truncatingIfNeeded: events[index])
      index += 1
      guard watched < watches.count, let watch = watches[watched], watch.generation == generation else { continue }
      watch.ready(result)
    }
  }
}
