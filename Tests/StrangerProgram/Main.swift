import CallSimCommand
import Foundation
import StrangerProfile

/// The whole command line of a profile that is not built in.
@main
enum Main {
  static func main() {
    let profile = Profile(app: StrangerApp.self, server: StrangerServer.self)
    // For the test of profiles that do not fit.
    let isTwice = ProcessInfo.processInfo.environment["STRANGER_TWICE"] != nil
    CallSimProgram.run(profiles: isTwice ? [profile, profile] : [profile])
  }
}
