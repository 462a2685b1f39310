internal import CLinux
internal import Glibc
internal import Synchronization

/// Lists this machine's addresses without blocking the loop.
///
/// The kernel blocks `getifaddrs` while any process adds or removes interfaces, even in another network namespace:
/// hundreds of milliseconds on a busy machine, in which a call would be silent. So a thread calls it.
final class AddressLister {
  private final class Listing: Sendable {
    let addresses = Mutex<[InterfaceAddress]?>(nil)
    let finished: Int32 = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    private let list: @Sendable () -> [InterfaceAddress]?

    init(_ list: @escaping @Sendable () -> [InterfaceAddress]?) { self.list = list }

    deinit { close(finished) }

    func run() {
      let all = list()
      addresses.withLock { $0 = all }
      eventfd_write(finished, 1)
    }
  }

  private let listing: Listing
  private var waiting: [([InterfaceAddress]?) -> Void] = []

  init(loop: SocketLoop) {
    listing = Listing(loop.listAllAddresses)
    loop.watch(listing.finished, for: Int16(POLLIN)) { [unowned self] _ in deliver() }
  }

  /// Calls `answer` once, on the loop's thread and never within this call.
  func list(_ answer: @escaping ([InterfaceAddress]?) -> Void) {
    waiting.append(answer)
    if waiting.count == 1 { start() }
  }

  private func start() {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    var thread = pthread_t()
    let context = Unmanaged.passRetained(listing)
    let result = pthread_create(
      &thread, &attributes,
      { context in
        Unmanaged<Listing>.fromOpaque(context!).takeRetainedValue().run()
        return nil
      }, context.toOpaque())
    guard result != 0 else { return }
    // No thread is available: a late packet is better than an address that is never noticed.
    context.release()
    listing.run()
  }

  private func deliver() {
    var count: eventfd_t = 0
    eventfd_read(listing.finished, &count)
    let addresses = listing.addresses.withLock { $0 }
    let answers = waiting
    waiting = []
    for answer in answers { answer(addresses) }
  }
}
