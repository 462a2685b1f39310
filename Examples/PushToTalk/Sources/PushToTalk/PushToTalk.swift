import CallSim

extension Profile {
  /// The product of this package, as scenarios name it.
  public static var pushToTalk: Profile {
    Profile(app: PushToTalkApp.self, servers: ["dispatch": DispatchServer.self, "echo": EchoServer.self])
  }
}
