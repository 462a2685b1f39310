internal import CLinux
internal import Glibc

/// The readiness of descriptors, by `epoll(7)`: its cost depends on the number of ready descriptors, not of all.
///
/// Files and devices that epoll refuses, such as standard input from a file, are always ready, as in `poll(2)`.
final class DescriptorQueue {
  private struct Watch {
    /// The number that distinguishes the watch from an earlier one of the same descriptor, whose events may be pending.
    let generation: UInt32
    var events: Int16
    let isAlwaysReady: Bool
    let ready: (Int16) -> Void
  }

  static let capacity = 64

  /// The epoll descriptor, readable while a watched one is ready; for `ppoll(2)`, whose timeout is in nanoseconds.
  let descriptor: Int32 = epoll_create1(Int32(EPOLL_CLOEXEC))
  /// The watches, indexed by descriptor.
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
    // epoll has the same event bits as poll.
    let tag = UInt64(generation) << 32 | UInt64(UInt32(bitPattern: watched))
    return epoll_change(descriptor, operation, watched, UInt32(UInt16(bitPattern: events)), tag) == 0
  }

  // MARK: Readiness

  /// Whether an always ready descriptor is watched for an event.
  var hasAlwaysReady: Bool { alwaysReady.contains { (watches[Int($0)]?.events ?? 0) != 0 } }

  /// Calls the watchers of ready descriptors. A watcher may add and remove watches, including its own.
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
