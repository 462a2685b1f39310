internal import CallCore
internal import ExternalRecords
internal import Formats
internal import PeerSession
internal import ScenarioFormat
internal import ScenarioRun
internal import SimNet

/// Writes all files of one run into its folder during the run.
final class RunArtifacts {
  private let folder: String
  private let job: RunJob
  private let trace: TraceFile
  private let capture: FileSink
  private var diagram = ""
  private var speakers: [(peer: String, file: WAVFile)] = []
  private lazy var screens = ShownVideoFiles(folder: folder)
  private var failure: FileError?

  init(folder: String, job: RunJob) throws(FileError) {
    self.folder = folder
    self.job = job
    try RunDirectory.prepare(folder)
    // Written first, so that a run that crashes the process can be repeated.
    try SavedRun(job).write(to: folder)
    trace = try TraceFile(path: folder + "/trace.jsonl")
    capture = try FileSink(path: folder + "/run.pcapng")
  }

  /// The receivers to pass to the run.
  var outputs: RunOutputs {
    var outputs = RunOutputs()
    let packets = PacketCapture { [capture] bytes in capture.write(bytes) }
    outputs.observers = [trace]
    outputs.told = { [unowned self] in diagram = SequenceDiagram($0).text }
    outputs.tap = packets
    outputs.keyLog = { packets.writeSecrets(keyLog: $0.hasSuffix("\n") ? $0 : $0 + "\n") }
    outputs.heard = { [unowned self] peer, samples in append(samples, heardBy: peer) }
    outputs.shown = { [unowned self] frame, connection in show(frame, over: connection) }
    outputs.recorded = { [unowned self] name, bytes in store(bytes, in: name) }
    outputs.wrote = { [unowned self] account in
      write(account.output, to: "\(account.name).stdout.txt")
      write(account.errors, to: "\(account.name).stderr.txt")
    }
    return outputs
  }

  /// Writes the output of a program, if there is any.
  private func write(_ bytes: [UInt8], to name: String) {
    guard failure == nil, !bytes.isEmpty else { return }
    do throws(FileError) {
      try Self.write(String(decoding: bytes, as: UTF8.self), to: "\(folder)/\(name)")
    } catch { failure = error }
  }

  private func store(_ bytes: [UInt8], in name: String) {
    guard failure == nil else { return }
    do throws(FileError) {
      let sink = try FileSink(path: "\(folder)/\(name)")
      sink.write(bytes.span.bytes)
      try sink.close()
    } catch { failure = error }
  }

  private func append(_ samples: Span<Int16>, heardBy peer: String) {
    if let known = speakers.first(where: { $0.peer == peer }) {
      known.file.append(samples)
      return
    }
    guard failure == nil else { return }
    do {
      let file = try WAVFile(path: "\(folder)/\(peer).wav")
      speakers.append((peer, file))
      file.append(samples)
    } catch { failure = error }
  }

  private func show(_ frame: RenderedVideoFrame, over connection: String) {
    guard failure == nil else { return }
    do throws(FileError) { try screens.append(frame, over: connection) } catch { failure = error }
  }

  /// Completes the files.
  ///
  /// - Parameter result: nil when the harness failed.
  func finish(_ result: RunResult?) throws(FileError) {
    if let failure { throw failure }
    try trace.close()
    try capture.close()
    for speaker in speakers { try speaker.file.close() }
    try screens.close()
    try Self.write(diagram, to: folder + "/sequence.mmd")
    guard let result, case .object(var members) = result.json else { return }
    members.append(.init("callsim", RunEnvironment.current.json))
    members.append(.init("files", .string(RunResult.hexadecimal(job.source.hash))))
    try Self.write(JSON.object(members).description + "\n", to: folder + "/result.json")
  }

  static func write(_ text: String, to path: String) throws(FileError) {
    let sink = try FileSink(path: path)
    sink.write(text)
    try sink.close()
  }
}
