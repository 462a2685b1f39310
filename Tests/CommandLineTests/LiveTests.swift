import Foundation
import Testing

/// Live calls as users make them, of which none is connected.
@Suite struct LiveTests {
  @Test func `a description goes into what is no regular file and takes no device's place`() throws {
    let workspace = try Workspace(["offer.txt": "before"])
    try FileManager.default.createSymbolicLink(
      atPath: workspace.path + "/link", withDestinationPath: workspace.path + "/offer.txt")
    let outcome = try workspace.run(
      "live", "--offer", "--loopback", "--local-description", "link", "--remote-description", ".")
    #expect(outcome.status == 2, "\(outcome.errors)")
    #expect(outcome.errors.contains("is not a regular file"), "\(outcome.errors)")
    #expect(try workspace.text("offer.txt").hasPrefix("v=0"))
    let attributes = try FileManager.default.attributesOfItem(atPath: workspace.path + "/link")
    #expect(attributes[.type] as? FileAttributeType == .typeSymbolicLink)
  }

  @Test func `a description that is lost is told and ends the command`() throws {
    let workspace = try Workspace()
    let outcome = try workspace.run(
      "live", "--offer", "--loopback", "--local-description", "/dev/full", "--remote-description", "a.sdp")
    #expect(outcome.status == 4, "\(outcome.errors)")
    #expect(outcome.errors.contains("/dev/full"), "\(outcome.errors)")
  }

  @Test func `an answer is no offer`() throws {
    let workspace = try Workspace(["a.json": #"{"type":"answer","sdp":"v=0"}"#])
    let outcome = try workspace.run("live", "--answer", "--remote-description", "a.json")
    #expect(outcome.status == 2, "\(outcome.errors)")
    #expect(outcome.errors.contains("waiting for the offer in a.json"))
    #expect(outcome.errors.contains("has a description of type 'answer', and 'offer' is wanted"), "\(outcome.errors)")
  }

  @Test func `whoever calls where nobody listens is told so in words`() throws {
    let outcome = try Program.run(["live", "--call", "http://127.0.0.1:9/", "--loopback"])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("signalling-failure: descriptions could not be exchanged (Connection refused)"))
    #expect(!outcome.errors.contains("EventLoop"), "\(outcome.errors)")
  }

  @Test func `standard descriptors may be closed`() throws {
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = ["-c", "'\(Program.path)' live --offer --interface nosuch0 <&- >&- 2>&-"]
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationReason == .exit && shell.terminationStatus == 2)
  }
}
