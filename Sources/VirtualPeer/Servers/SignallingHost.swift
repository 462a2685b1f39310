package import CallCore

/// A profile's signalling server on a host of the world.
package final class SignallingHost {
  package static let port: UInt16 = 443

  package let runtime: HostRuntime
  package let faults: SignallingFaults
  private let server: any SignallingServer

  package init(
    server: any SignallingServer.Type, runtime: HostRuntime, random: RandomSource, trace: Trace, name: String
  ) {
    self.runtime = runtime
    faults = SignallingFaults(clock: runtime.clock, trace: trace, subject: name)
    self.server = server.init(
      environment: ServerEnvironment(
        clock: runtime.clock, random: random, faults: faults, network: runtime.network, port: Self.port, trace: trace,
        subject: name))
  }

  package func start() { server.start() }

  /// Drops the connection of a user, or of everybody.
  package func disconnect(user: String?) { server.disconnect(user: user) }

  /// While refused, a user's connections are dropped as soon as they say whose they are.
  package func refuse(user: String, _ refuses: Bool) { faults.setRefused(user, refuses) }

  /// Delivers a message that no honest client sent.
  package func inject(type: String, from: String, to: String, fields: NamedValues) {
    server.inject(type: type, from: from, to: to, fields: fields)
  }

  package func shutDown() { server.shutDown() }
}
