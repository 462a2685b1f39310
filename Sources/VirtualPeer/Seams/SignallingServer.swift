public import CallCore

/// A profile's signalling server: an app on a host of its own.
public protocol SignallingServer: AnyObject {
  init(environment: ServerEnvironment)

  /// Begins to listen.
  func start()

  /// Drops the connection of a user, or of all, as a crash or a load balancer would.
  func disconnect(user: String?)

  /// Delivers a message of any type, with any fields, as if `from` had sent it: what a puppet in a scenario says.
  func inject(type: String, from: String, to: String, fields: NamedValues)

  func shutDown()
}

/// Everything the outside world is to a signalling server.
public struct ServerEnvironment {
  public let clock: PeerClock
  public let random: RandomSource
  /// What scenarios do to messages; the server passes each one through here.
  public let faults: SignallingFaults
  private let network: PeerNetwork
  private let port: UInt16
  private let trace: Trace
  private let subject: TraceSubject
  private let malformedKind: TraceKind
  private let undeliverableKind: TraceKind

  package init(
    clock: PeerClock, random: RandomSource, faults: SignallingFaults, network: PeerNetwork, port: UInt16, trace: Trace,
    subject: String
  ) {
    self.clock = clock
    self.random = random
    self.faults = faults
    self.network = network
    self.port = port
    self.trace = trace
    self.subject = trace.subject(subject)
    malformedKind = trace.declare("signal.malformed", TraceField("what", .symbol))
    undeliverableKind = trace.declare("signal.undeliverable", TraceField("type", .symbol), TraceField("to", .symbol))
  }

  /// Accepts connections at the server's port.
  public func listen(_ accept: @escaping (PeerStream) -> Void) { network.listen(on: port, accept) }

  /// Says that a client sent what cannot be used; it was ignored.
  public func malformed(_ what: String) { trace.write(malformedKind, subject, trace.value(what)) }

  /// Says that a message's user has no connection; it is lost.
  public func undeliverable(_ message: SignallingMessage) {
    trace.write(undeliverableKind, subject, trace.value(message.type), trace.value(message.to))
  }
}
