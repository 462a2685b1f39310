internal import ExternalRecords
internal import Formats

#if canImport(ExternalPeer)
  internal import ExternalPeer

  /// The programs outside the simulation that take part in a world: some are a peer's call stack, some a peer alone.
  final class WorldPrograms {
    private var stacks: [(peer: String, stack: ExternalStack)] = []
    private var programs: [ExternalProgram] = []
    private var startFailure: ExternalError?
    private var areStopped = false

    func add(_ stack: ExternalStack, of peer: String) { stacks.append((peer, stack)) }
    func add(_ program: ExternalProgram) { programs.append(program) }

    /// Starts the call stacks, up to the first that fails.
    func startStacks() throws {
      for stack in stacks {
        do throws(ExternalError) {
          try stack.stack.start()
        } catch {
          guard error.kind == .program else { throw error }
          startFailure = error
          return
        }
      }
    }

    /// Starts the programs that are peers alone.
    func startPeers() throws { for program in programs { try program.start() } }

    /// The first thing that went wrong with a program.
    var failure: ExternalError? {
      startFailure ?? stacks.lazy.compactMap(\.stack.failure).first ?? programs.lazy.compactMap(\.failure).first
    }

    /// A few lines about the programs that ended of their own accord or failed.
    var lines: [String] {
      let failed = stacks.flatMap(\.stack.accounts).filter(\.hasFailed).map(\.account)
      return (programs.compactMap(\.account) + failed).flatMap(\.lines)
    }

    /// Ends every program, and hands over what those with a call stack have heard, and what all have written.
    func stop(_ outputs: RunOutputs) {
      guard !areStopped else { return }
      areStopped = true
      for program in programs {
        program.shutDown()
        if let account = program.account { outputs.wrote?(account) }
      }
      for (peer, stack) in stacks {
        stack.shutDown()
        for (account, _) in stack.accounts { outputs.wrote?(account) }
        guard let heard = outputs.heard else { continue }
        for path in stack.recordings {
          if let recording = try? WAVRecording(path: path) { heard(peer, recording.samples.span) }
        }
      }
    }
  }
#else
  /// No programs: ``ExternalPrograms/problem`` says why.
  final class WorldPrograms {
    func startStacks() throws {}
    func startPeers() throws {}
    var failure: ExternalError? { nil }
    var lines: [String] { [] }
    func stop(_ outputs: RunOutputs) {}
  }
#endif
