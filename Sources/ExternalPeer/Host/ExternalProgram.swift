internal import CallCore
package import ExternalRecords
internal import SimNet
package import VirtualPeer

/// A UDP program without the peer protocol: it has the host's network and an exit code.
package final class ExternalProgram {
  package let name: String
  private let bridge: ExternalHost
  private let runtime: HostRuntime
  private let command: [String]
  private let environment: [String]
  private var program: ChildProgram?
  /// The way in which the program ended by itself.
  private var ending: ChildProgram.Ending?
  private let interfaceNames: [(link: String, name: String)]
  private var preferred: String?

  /// - Parameters:
  ///   - environment: variables in addition to those passed on from our own environment, as `NAME=value`.
  ///   - interfaceNames: the scenario's names for the host's interfaces, with the names of their links.
  package init(
    _ name: String, command: [String], environment: [String],
    interfaceNames: [(link: String, name: String)], bridge: ExternalHost,
    runtime: HostRuntime
  ) {
    self.name = name
    self.command = command
    self.environment = environment
    self.interfaceNames = interfaceNames
    self.bridge = bridge
    self.runtime = runtime
    runtime.onInterfacesChanged = { [unowned self] in showInterfaces() }
  }

  /// Starts the program.
  package func start() throws(ExternalError) {
    showInterfaces()
    let program = try ChildProgram(
      command, environment: ChildProgram.environment(with: environment), in: bridge.space)
    self.program = program
    let trace = bridge.simulator.trace
    trace.write(ProgramEvents.state, bridge.subject, "running")
    for descriptor in [program.outputDescriptor, program.errorDescriptor] {
      bridge.pace.watch(descriptor) { [unowned self] in listen() }
    }
    bridge.pace.watch(program.endDescriptor) { [unowned self] in noteEnd() }
    bridge.pace.starvation.add(program, named: name)
  }

  private func showInterfaces() {
    let active = runtime.network.activeInterfaces
    bridge.show(active)
    let link = active.first?.name ?? "none"
    let name = interfaceNames.first { $0.link == link }?.name ?? link
    guard name != preferred else { return }
    preferred = name
    let trace = bridge.simulator.trace
    trace.write(PeerEvents.network, bridge.subject, name)
  }

  private func listen() {
    guard let program else { return }
    let trace = bridge.simulator.trace
    program.receive()
    while let line = program.nextLine() {
      trace.write(ProgramEvents.output, bridge.subject, String(decoding: line.prefix(200), as: UTF8.self))
    }
    if !program.isOutputOpen { bridge.pace.unwatch(program.outputDescriptor) }
    if !program.areErrorsOpen { bridge.pace.unwatch(program.errorDescriptor) }
  }

  private func noteEnd() {
    // Output from before the end is traced before the end.
    listen()
    guard let program, let ending = program.reap() else { return }
    self.ending = ending
    bridge.pace.starvation.remove(program)
    bridge.pace.unwatch(program.endDescriptor)
    let trace = bridge.simulator.trace
    if case .exit(let code) = ending { trace.write(ProgramEvents.exitCode, bridge.subject, Int(code)) }
    trace.write(ProgramEvents.state, bridge.subject, "exited")
  }

  package var failure: ExternalError? { bridge.failure }

  /// The output of the program; nil before the start.
  package var account: ProgramAccount? { program?.account(name: name, ending: ending?.description) }

  /// Ends the program and all processes that it has started.
  package func shutDown() {
    if let program {
      bridge.pace.starvation.remove(program)
      for descriptor in [program.outputDescriptor, program.errorDescriptor, program.endDescriptor] {
        bridge.pace.unwatch(descriptor)
      }
      program.stop(timeout: .milliseconds(500))
    }
    bridge.tearDown()
  }
}
