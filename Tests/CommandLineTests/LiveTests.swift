import Foundation
import Testing

/// Live calls as users make them.
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

  @Test func `two programs exchange descriptions by files, talk, and end as one of them hangs up`() throws {
    let workspace = try Workspace()
    let common = ["--loopback", "--interface", "lo", "--json"]
    let answerer = try Running(
      ["live", "--answer", "--remote-description", "o.sdp", "--local-description", "a.sdp"] + common,
      in: workspace.path)
    let offerer = try Running(
      ["live", "--offer", "--local-description", "o.sdp", "--remote-description", "a.sdp", "--duration", "2"] + common,
      in: workspace.path)
    for (program, code) in [(offerer, "local-hangup"), (answerer, "remote-hangup")] {
      let outcome = try program.finish()
      #expect(outcome.status == 0, "\(outcome.errors)")
      let lines = outcome.output.split(separator: "\n")
      #expect(lines.last == #"{"end":"\#(code)","wasUp":true}"#)
      // One a second and one at the end, on whichever side of the second second that is.
      #expect((2...4).contains(lines.count { $0.contains("inbound-rtp") }), "\(outcome.output)")
    }
  }

  @Test(arguments: ["--record", "--keylog"])
  func `files of the call before stay until there is another call`(option: String) throws {
    let workspace = try Workspace(["kept": "of before"])
    let outcome = try workspace.run("live", "--offer", "--loopback", "--interface", "lo", option, "kept")
    #expect(outcome.status == 2, "\(outcome.errors)")
    #expect(try workspace.text("kept") == "of before")
  }

  @Test(arguments: [
    ["--record", "a", "--capture", "a"], ["--keylog", "a", "--record", "./a"], ["--play", "link", "--record", "a"],
    ["--local-description", "new", "--remote-description", "./new"],
  ])
  func `two options cannot name one file`(options: [String]) throws {
    let workspace = try Workspace(["a": "of before"])
    try FileManager.default.createSymbolicLink(atPath: workspace.path + "/link", withDestinationPath: "a")
    let outcome = try Program.run(["live", "--offer", "--loopback"] + options, in: workspace.path)
    #expect(outcome.status == 2 && outcome.errors.contains("name the same file"), "\(outcome.errors)")
    #expect(try workspace.text("a") == "of before")
  }

  @Test(arguments: ["--local-description", "--remote-description", "--record", "--keylog"])
  func `a folder that is not there is told at once`(option: String) throws {
    let workspace = try Workspace()
    let outcome = try workspace.run("live", "--answer", "--loopback", option, "nowhere/x")
    #expect(outcome.status == 2, "\(outcome.errors)")
    #expect(outcome.errors.contains("nowhere/x: No such file or directory"), "\(outcome.errors)")
  }

  @Test func `a call whose terminal is closed hangs up`() throws {
    let workspace = try Workspace()
    let outcome = try Program.run(
      ["live", "--offer", "--loopback", "--interface", "lo", "--remote-description", "a.sdp"], in: workspace.path,
      interruptedAt: "a=end-of-candidates", with: SIGHUP)
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasSuffix("cancelled: given up before it was connected\n"), "\(outcome.errors)")
  }

  @Test(arguments: [["--offer"], ["--answer"], ["--call", "http://127.0.0.1:9/"]])
  func `a port that is taken is told before anything else`(mode: [String]) throws {
    let taken = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(taken) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        _ = bind(taken, pointer, length)
        getsockname(taken, pointer, &length)
      }
    }
    let port = UInt16(bigEndian: address.sin_port)
    let outcome = try Program.run(
      ["live", "--loopback", "--interface", "lo", "--no-ipv6", "--ports", "\(port)-\(port)"] + mode)
    #expect(outcome.status == 2 && outcome.output.isEmpty)
    #expect(outcome.errors.contains("error: bind 127.0.0.1:\(port): Address already in use\n"), "\(outcome.errors)")
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
    let workspace = try Workspace()
    let common = ["--loopback", "--interface", "lo"]
    let answerer = try Running(
      ["live", "--answer", "--remote-description", "o.sdp", "--local-description", "a.sdp", option, "/dev/full"]
        + common, in: workspace.path)
    let offerer = try Running(
      ["live", "--offer", "--local-description", "o.sdp", "--remote-description", "a.sdp", "--duration", "1"] + common,
      in: workspace.path)
    #expect(try offerer.finish().status == 0)
    let outcome = try answerer.finish()
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

  @Test(arguments: [
    (#"{"type":"offer"}"#, "has JSON without an 'sdp' text"),
    (#"{"type":"offer","sdp":5}"#, "has JSON without an 'sdp' text"),
    (#"{"type":"offer","sdp":"v=0\r\no=- 1"#, "has JSON that is cut short"),
    (#"{"type":"offer","sdp":"v=0"} {}"#, "has JSON with a mistake: trailingCharacters at byte 29"),
  ])
  func `JSON that is no description is refused as JSON, not as SDP`(json: String, reason: String) throws {
    let workspace = try Workspace(["a.json": json + "\n"])
    let outcome = try workspace.run("live", "--answer", "--remote-description", "a.json")
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("a.json: \(reason)"), "\(outcome.errors)")
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
