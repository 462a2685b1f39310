package import CallCore
internal import Formats
package import Vocabulary

/// A profile's signalling server on a host of the world.
package final class SignallingHost {
  package static let port: UInt16 = 443

  package let runtime: HostRuntime
  package let faults: SignallingFaults
  private let codec: SignallingCodec
  private let tap: SignallingTap
  private let server: any SignallingServer
  private let tasks: PeerTasks

  /// - Parameter messages: what the profile's vocabulary declares.
  package init(
    server: any SignallingServer.Type, messages: [MessageDeclaration], runtime: HostRuntime,
    port: UInt16 = SignallingHost.port, delay: Interval = .zero,
    random: RandomSource, trace: Trace, name: String
  ) {
    self.runtime = runtime
    let faults = SignallingFaults(clock: runtime.clock, trace: trace, subject: name)
    codec = SignallingCodec(server, messages: messages)
    let tap = SignallingTap(faults: faults, codec: codec, trace: trace, subject: name)
    self.faults = faults
    self.tap = tap
    tasks = PeerTasks(clock: runtime.clock)
    self.server = server.init(
      environment: ServerEnvironment(
        clock: runtime.clock, tasks: tasks, random: random, network: runtime.network, port: port, delay: delay,
        trace: trace, subject: name
      ) { tap.accept($0, random: random) })
  }

  package func start() { server.start() }

  /// Drops the connection of a user, or of everybody.
  package func disconnect(user: String?) { tap.disconnect(user: user) }

  /// Whether a user has a connection.
  package func isConnected(user: String) -> Bool { tap.isConnected(user: user) }

  /// How many connections of a user were dropped because the user is refused.
  package func refusalCount(of user: String) -> Int { tap.refusalCounts[user] ?? 0 }

  /// While refused, a user's connections are dropped as soon as they say whose they are.
  package func refuse(user: String, _ refuses: Bool) { tap.setRefused(user, refuses) }

  /// Delivers a message that no honest client sent, under the sender's name.
  package func inject(type: String, from: String, to: String, fields: NamedValues) {
    var content = MessageContent(type)
    if let sender = codec.senderField(of: type) { content.fields.append(JSON.Member(sender, .string(from))) }
    content.fields += fields.all.map { JSON.Member($0.name, JSON($0.value)) }
    inject(content, from: from, to: to)
  }

  /// Delivers a message as it is.
  package func inject(_ message: MessageContent, from: String, to: String) {
    tap.forge(message)
    server.inject(message, from: from, to: to)
  }

  package func shutDown() {
    server.shutDown()
    tasks.shutDown()
  }

  /// Async code of the server that has not ended.
  package var openTaskCount: Int { tasks.openCount }
}
