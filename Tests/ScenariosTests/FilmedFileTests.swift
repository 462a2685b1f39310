import CallCore
import Foundation
import PeerSession
import Pictures
import Profiles
import ScenarioJudge
import Testing

@testable import ScenarioFormat
@testable import ScenarioRun
@testable import ScenarioSuite

/// `camera: { file: … }`: what is filmed is read with the scenario, and is seen by the other side; what is shown is in the
/// run's folder.
@Suite struct `Pictures from files and into files` {
  private static let size = PictureSize(160, 120)!

  /// A bright second and a dark one.
  private static let clip: [UInt8] = {
    var writer = Y4MWriter(size: size, frameRate: FrameRate(1)!)
    for luma in [200, 60] as [UInt8] {
      var picture = VideoFrame(filled: size)
      picture.fill(.y, x: 0..<size.width, y: 0..<size.height, with: luma)
      try? writer.append(picture)
    }
    return writer.bytes
  }()

  private func scenario(
    _ alice: String = "devices: { camera: { file: clip.y4m } }", _ rest: String = ""
  ) -> String {
    """
    callsim: 1
    id: filmed
    \(rest)
    peers:
      alice: { profile: knotos, network: wifi, video: { size: 160x120, frame_rate: 10 }, \(alice) }
      bob: { profile: knotos, network: wifi, video: {} }
    run: 8s
    timeline:
      - { id: call, at: 0s, do: alice.call, to: bob }
      - { when: bob.call.state == ringing, do: bob.accept }
    expect:
      - { eventually: bob.visible }
    """
  }

  private func load(_ text: String, clip: [UInt8] = clip) -> ScenarioFile.Result {
    ScenarioFile.load(bytes: Array(text.utf8), path: "t.yaml", registry: ProfileCatalogue.builtIn.registry) { path in
      path == "clip.y4m" ? clip : nil
    }
  }

  private final class Screen { var brightness: [UInt32: Int] = [:] }

  /// The mean luma of each picture that bob's screen shows, below the number in it, by that number.
  private func shown(_ result: ScenarioFile.Result) throws -> [UInt32: Int] {
    let cell = try #require(result.scenario?.cells.first, "\(FormatTest.text(result))")
    var outputs = RunOutputs()
    let screen = Screen()
    outputs.shown = { frame, connection in
      guard connection == "bob", let number = frame.contentID, let picture = frame.picture else { return }
      let lower = picture.withPlane(.y) { $0[(Self.size.width * 60)...].map(Int.init) }
      screen.brightness[number] = lower.reduce(0, +) / lower.count
    }
    _ = try SingleRun(cell: cell, seed: 1, path: "t.yaml").execute(outputs: outputs)
    return screen.brightness
  }

  @Test func `the other side sees the file, each picture at its time, over and over`() throws {
    let brightness = try shown(load(scenario()))
    #expect(brightness.count > 40)
    for (number, luma) in brightness {
      #expect(number / 10 % 2 == 0 ? luma > 150 : luma < 110, "picture \(number): \(luma)")
    }
  }

  @Test func `the last picture stays where a file ends so`() throws {
    let brightness = try shown(load(scenario("devices: { camera: { file: clip.y4m, at_end: last-picture } }")))
    #expect(brightness.count > 40)
    for (number, luma) in brightness { #expect(number < 10 ? luma > 150 : luma < 110, "picture \(number): \(luma)") }
  }

  @Test func `media are real where a camera films a file, and cannot be modelled`() {
    #expect(load(scenario()).scenario?.cells.first?.scenario.media == .real)
    let text = FormatTest.text(load(scenario("devices: { camera: { file: clip.y4m } }", "media: synthetic")))
    #expect(text.contains("alice films a file, and nobody sees it"), "\(text)")
  }

  @Test func `a file that cannot be filmed is refused at its name, with a command that makes one that can`() {
    for (bytes, reason) in [
      (Array("RIFF0000AVI LIST".utf8), "'clip.y4m' is neither a Y4M nor an IVF file"),
      (Array(Self.clip.dropLast(10)), "10 bytes are missing"),
    ] {
      let result = load(scenario(), clip: bytes)
      let text = FormatTest.text(result)
      #expect(result.diagnostics.map(\.code) == [.badRecording], "\(text)")
      #expect(text.contains(reason) && text.contains("t.yaml:5:"), "\(text)")
      #expect(text.contains("ffmpeg -i clip.y4m -an -t 10 -pix_fmt yuv420p -c:v libvpx out.ivf"), "\(text)")
    }
  }

  @Test func `a program films no file`() {
    let text = FormatTest.text(
      load(scenario("stack: external, command: [true], devices: { camera: { file: clip.y4m } }")))
    #expect(text.contains("nothing in its protocol gives it pictures of a file"), "\(text)")
  }

  @Test func `a frame that cannot be decoded ends the run with the name of file and frame`() throws {
    var writer = try #require(IVFWriter(codec: "VP80", size: Self.size, timeBase: .fps30))
    try writer.append(IVFFile.Frame(time: 0, bytes: [0xFF, 0xFF]))
    let cell = try #require(load(scenario(), clip: writer.bytes).scenario?.cells.first)
    let error = #expect(throws: HarnessError.self) {
      _ = try SingleRun(cell: cell, seed: 1, path: "t.yaml").execute(outputs: RunOutputs())
    }
    #expect(error?.description.hasPrefix("clip.y4m cannot be filmed: its frame 0 cannot be decoded") == true)
  }

  @Test func `a run's folder has what each peer saw, which can be filmed again`() throws {
    let folder = NSTemporaryDirectory() + "callsim-filmed-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = try #require(load(scenario()).scenario)
    var job = RunJob(source: file.source, cellID: file.cells[0].id, seed: 1)
    job.output = .artifacts(folder: folder)
    var worker = WorkerLoop(profiles: .builtIn)
    guard case .result(let result) = worker.execute(job) else {
      Issue.record("no result")
      return
    }
    #expect(result.verdict == .pass)
    let bytes = Array(try #require(FileManager.default.contents(atPath: folder + "/bob-video.ivf")))
    let coded = try IVFFile(parsing: bytes)
    #expect(coded.codec == "VP80" && coded.size == Self.size && coded.frames.count > 40)
    // It is shown at the times of the run, in milliseconds.
    let times = coded.frames.map(\.time)
    #expect(times == times.sorted() && times.allSatisfy { (100...9_100).contains($0) }, "\(times)")
    let video = try FilmedFile.video(VideoFile(parsing: bytes), atEnd: .repeat, name: "bob-video.ivf")
    let numbers = times.map { time in
      FrameNumberCode.read(video.picture(at: .milliseconds(Int64(time - times[0]))))
    }
    #expect(numbers.compactMap(\.self).count == numbers.count)
    #expect(numbers.compactMap(\.self) == Array(Set(numbers.compactMap(\.self))).sorted())
    #expect(FileManager.default.fileExists(atPath: folder + "/alice-video.ivf"))
  }
}
