internal import CLinux
package import CallCore
internal import Glibc
package import PeerSession
internal import Synchronization

/// The event loop of one thread: waits until a descriptor is ready or a timer is due, then calls the handlers.
///
/// A server may have thousands of descriptors, so epoll watches them; `ppoll(2)` waits for epoll, because its timeout
/// is in nanoseconds. A turn of the loop allocates nothing.
package final class SocketLoop: LiveWorld {
  /// The state that other threads may use: jobs for the loop, and the descriptor that wakes it.
  private final class Mailbox: Sendable {
    let jobs = Mutex<[@Sendable () -> Void]>([])
    let signal: Int32 = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))

    deinit { close(signal) }
  }

  let datagrams = DatagramMemory()
  private let epoch: Int64
  private let descriptors = DescriptorQueue()
  private var timers: [LoopTimer] = []
  private var resolver: MulticastResolver?
  private var announcer: MulticastAnnouncer?
  private var addressLister: AddressLister?
  private var isStopped = false
  private let mailbox = Mailbox()
  let listAllAddresses: @Sendable () -> [InterfaceAddress]?

  /// - Parameter addresses: lists the system's addresses, on any thread.
  package init(addresses: @escaping @Sendable () -> [InterfaceAddress]? = { InterfaceAddress.all }) {
    listAllAddresses = addresses
    epoch = Self.nanoseconds(CLOCK_BOOTTIME)
    watch(mailbox.signal, for: Int16(POLLIN)) { [unowned self] _ in runJobs() }
  }

  // MARK: Time

  private static func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// The time since the loop was created, on a clock that never jumps and continues while the machine sleeps, as the
  /// other side's clock does.
  package var now: Instant { Instant(nanoseconds: Self.nanoseconds(CLOCK_BOOTTIME) - epoch) }

  /// The time in milliseconds on the machine's monotonic clock, which all its programs share.
  package var monotonicMilliseconds: Double { Double(Self.nanoseconds(CLOCK_MONOTONIC)) / 1e6 }

  /// Returns the date, read once: a call's clocks do not jump when the machine's clock is set.
  package func wallClock() -> WallClock {
    WallClock(unixNanosecondsAtStart: Self.nanoseconds(CLOCK_REALTIME) - now.nanoseconds)
  }

  /// The date in milliseconds since 1970.
  package var unixMilliseconds: Double { Double(wallClock().unixNanoseconds(at: now)) / 1e6 }

  // MARK: Timers and sockets

  package var addresses: [InterfaceAddress] { listAllAddresses() ?? [] }

  package func listAddresses(_ answer: @escaping ([InterfaceAddress]?) -> Void) {
    let lister = addressLister ?? AddressLister(loop: self)
    addressLister = lister
    lister.list(answer)
  }

  package func makeTimer(_ handler: @escaping () -> Void) -> LoopTimer {
    let timer = LoopTimer(handler)
    timers.append(timer)
    return timer
  }

  package func remove(_ timer: LoopTimer) {
    timer.deadline = nil
    timers.removeAll { $0 === timer }
  }

  package func openSocket(
    on address: InterfaceAddress, ports: ClosedRange<UInt16>, receive: @escaping (RawSpan, Path) -> Void
  ) throws(SystemError) -> any LiveSocket {
    var failure: SystemError?
    for port in ports {
      do throws(SystemError) {
        return try DatagramSocket(on: address, port: port, loop: self, receive: receive)
      } catch {
        failure = error
        guard error.code == EADDRINUSE else { break }
      }
    }
    throw failure ?? SystemError("bind \(address.address)", code: EADDRINUSE)
  }

  package func openStream(from address: InterfaceAddress, to remote: Endpoint) -> any ByteStream {
    StreamSocket(from: address, to: remote, loop: self)
  }

  package func resolve(multicastName name: String, _ answer: @escaping (IPAddress) -> Void) {
    let resolver = resolver ?? MulticastResolver(loop: self)
    self.resolver = resolver
    resolver.resolve(name, answer)
  }

  package func announce(multicastName name: String, of address: InterfaceAddress) {
    let announcer = announcer ?? MulticastAnnouncer(loop: self)
    self.announcer = announcer
    announcer.announce(name, of: address)
  }

  package func withdraw(multicastName name: String) { announcer?.withdraw(name) }

  /// Whether there is an interface and a port for multicast DNS, so that our names can be resolved.
  package var canAnnounceNames: Bool {
    let sockets = MulticastSocket.both(on: addresses, loop: self) { _, _ in }
    for socket in sockets { socket.close() }
    return !sockets.isEmpty
  }

  // MARK: Descriptors

  /// Calls `ready` with poll's result whenever one of `events` holds for the descriptor.
  package func watch(_ descriptor: Int32, for events: Int16, ready: @escaping (Int16) -> Void) {
    descriptors.watch(descriptor, for: events, ready: ready)
  }

  /// Changes the events for which a descriptor is watched.
  package func rewatch(_ descriptor: Int32, for events: Int16) { descriptors.rewatch(descriptor, for: events) }

  package func unwatch(_ descriptor: Int32) { descriptors.unwatch(descriptor) }

  // MARK: Other threads

  /// Runs a job on the loop's thread; any thread may call this.
  package nonisolated func enqueue(_ job: @escaping @Sendable () -> Void) {
    mailbox.jobs.withLock { $0.append(job) }
    eventfd_write(mailbox.signal, 1)
  }

  private func runJobs() {
    var count: eventfd_t = 0
    eventfd_read(mailbox.signal, &count)
    let jobs = mailbox.jobs.withLock { jobs in
      defer { jobs.removeAll() }
      return jobs
    }
    for job in jobs { job() }
  }

  // MARK: Running

  /// Runs turns until ``stop()``.
  package func run() {
    isStopped = false
    while !isStopped { turn() }
  }

  /// Makes ``run()`` return after the present turn.
  package func stop() { isStopped = true }

  /// Waits for the first ready descriptor or due timer, and calls all handlers that are ready or due.
  package func turn() {
    var timeout = timespec()
    let deadline = descriptors.hasAlwaysReady ? now : nextDeadline()
    if let deadline {
      let wait = max(0, (deadline - now).nanoseconds)
      timeout = timespec(tv_sec: Int(wait / 1_000_000_000), tv_nsec: Int(wait % 1_000_000_000))
    }
    var queue = pollfd(fd: descriptors.descriptor, events: Int16(POLLIN), revents: 0)
    let ready = deadline == nil ? ppoll(&queue, 1, nil, nil) : ppoll(&queue, 1, &timeout, nil)
    if ready > 0 || descriptors.hasAlwaysReady { descriptors.callWatchers() }
    fireTimers()
  }

  private func nextDeadline() -> Instant? {
    var earliest: Instant?
    // An iterator over an array allocates in debug builds.
    var index = 0
    while index < timers.count {
      if let deadline = timers[index].deadline { earliest = min(earliest ?? deadline, deadline) }
      index += 1
    }
    return earliest
  }

  /// Fires due timers in the order of their deadlines, even if the machine was late for several. A timer that sets
  /// itself again at once does not starve the descriptors.
  private func fireTimers() {
    let now = now
    for _ in timers.indices {
      var next: LoopTimer?
      var index = 0
      while index < timers.count {
        let timer = timers[index]
        index += 1
        guard let deadline = timer.deadline, deadline <= now else { continue }
        if let earliest = next?.deadline, earliest <= deadline { continue }
        next = timer
      }
      guard let next else { return }
      next.fire(ifDueAt: now)
    }
  }
}
