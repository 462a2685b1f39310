internal import Synchronization

/// The program name in messages such as `callsim explain E213`: `callsim`, unless a command line with other profiles
/// sets another name.
package enum ProgramName {
  private static let name = Mutex("callsim")

  package static var current: String {
    get { name.withLock { $0 } }
    set { name.withLock { $0 = newValue } }
  }
}
