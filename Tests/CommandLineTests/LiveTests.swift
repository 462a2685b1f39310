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

  @Test(arguments: [["--record", "pipe"], ["--keylog", "pipe"], ["--capture", "pipe"]])
  func `a pipe that nobody reads is refused and not waited for`(option: [String]) throws {
    let workspace = try Workspace()
    #expect(mkfifo(workspace.path + "/pipe", 0o600) == 0)
    let outcome = try Program.run(["live", "--offer", "--loopback"] + option, in: workspace.path)
    #expect(outcome.status == 2)
    #expect(
      outcome.errors.contains("pipe: nobody reads from it; start the reader of a pipe first"), "\(outcome.errors)")
  }

  @Test func `a recording cannot go into a pipe, whose beginning is gone when its length is known`() throws {
    let workspace = try Workspace()
    #expect(mkfifo(workspace.path + "/pipe", 0o600) == 0)
    let reader = open(workspace.path + "/pipe", O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    let outcome = try workspace.run("live", "--offer", "--loopback", "--record", "pipe")
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("pipe: is a pipe; wanted is a file"), "\(outcome.errors)")
  }

  @Test(arguments: [
    ("/dev/zero", "/dev/zero: is neither a file nor a pipe"), ("/dev/null", "/dev/null: is neither a file nor a pipe"),
    (".", ".: is neither a file nor a pipe"),
  ])
  func `what has no end is not played`(path: String, message: String) throws {
    let outcome = try Program.run(["live", "--offer", "--loopback", "--play", path])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
  }

  @Test(arguments: ["--capture", "--record"])
  func `a file of the call that is lost is told and decides the exit status`(option: String) throws {
    let workspace = try Workspace(["a.sdp": "v=1\r\n"])
    let outcome = try workspace.run("live", "--answer", "--remote-description", "a.sdp", option, "/dev/full")
    #expect(outcome.status == 4, "\(outcome.errors)")
    #expect(
      outcome.errors.contains("/dev/full: not everything could be written: No space left on device"),
      "\(outcome.errors)")
  }

  @Test func `an offer that cannot be read ends the call with its line`() throws {
    let workspace = try Workspace(["a.sdp": "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\nhello\r\n"])
    let outcome = try workspace.run("live", "--answer", "--remote-description", "a.sdp")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("(SDP line 3: wanted is a letter, '=' and a value"), "\(outcome.errors)")
  }

  @Test func `an answer is no offer`() throws {
    let workspace = try Workspace(["a.json": #"{"type":"answer","sdp":"v=0"}"#])
    let outcome = try workspace.run("live", "--answer", "--remote-description", "a.json")
    #expect(outcome.status == 2, "\(outcome.errors)")
    #expect(outcome.errors.contains("waiting for the offer in a.json"))
    #expect(outcome.errors.contains("has a description of type 'answer', and 'offer' is wanted"), "\(outcome.errors)")
  }

  @Test func `what the other side wrote does not move the cursor`() throws {
    let workspace = try Workspace(["a.json": #"{"type":"\u001b[2J","sdp":"v=0"}"#])
    let outcome = try workspace.run("live", "--answer", "--remote-description", "a.json")
    #expect(outcome.status == 2, "\(outcome.errors)")
    #expect(outcome.errors.contains("[2J") && !outcome.errors.contains("\u{1B}"), "\(outcome.errors)")
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
