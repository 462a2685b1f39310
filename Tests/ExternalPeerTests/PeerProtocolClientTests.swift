import CallCore
import ExternalRecords
import Testing
import VirtualPeer

@testable import ExternalPeer

/// A program in a few lines of shell: it answers what it is told to, whatever it is asked.
@Suite struct PeerProtocolClientTests {
  private static func client(_ script: String) throws -> PeerProtocolClient {
    let program = try ChildProgram(
      ["/bin/sh", "-c", script], environment: ChildProgram.inheritedEnvironment, in: nil)
    return PeerProtocolClient(program, peer: "alice")
  }

  @Test func `a request gets its own answer, whatever the order of the answers`() throws {
    let client = try Self.client(
      #"read a; read b; echo '{"id":2,"result":{"n":2}}'; echo '{"id":1,"result":{"n":1}}'; read c"#)
    let first = client.begin("createOffer", [:])
    let second = client.call("getStats")
    #expect(try second.get()["n"]?.integer == 2)
    #expect(try client.awaitAnswer(to: first, timeout: .seconds(5)).get()["n"]?.integer == 1)
  }

  @Test func `events that come before an answer are kept in order`() throws {
    let client = try Self.client(
      #"read a; echo '{"event":"one"}'; echo '{"event":"two"}'; echo '{"id":1,"result":{}}'; read c"#)
    #expect(try client.call("setLocalDescription").get() == [:])
    let events = [client.nextEvent(), client.nextEvent(), client.nextEvent()].map { $0?["event"]?.string }
    #expect(events == ["one", "two", nil])
  }

  @Test func `a refusal carries the name and the words of the program`() throws {
    let client = try Self.client(
      #"read a; echo '{"id":1,"error":{"name":"InvalidStateError","message":"not now"}}'; read c"#)
    let answer = client.call("createAnswer")
    #expect(answer == .failure(PeerProtocolError(name: "InvalidStateError", message: "not now")))
    #expect(client.failure == nil)
  }

  @Test func `a program that does not answer is named with its command and the method`() throws {
    let client = try Self.client("read a; read b")
    let answer = client.call("createOffer", timeout: .milliseconds(30))
    guard case .failure(let error) = answer else { throw error("it answered") }
    #expect(error.name == "TimeoutError")
    let failure = try #require(client.failure)
    #expect(failure.kind == .program)
    #expect(failure.description.contains("alice's program (/bin/sh -c read a; read b)"))
    #expect(failure.description.contains("createOffer within 30ms"))
  }

  @Test func `a program that dies is told with how it ended`() throws {
    let client = try Self.client("exit 3")
    let answer = client.call("open")
    #expect(throws: PeerProtocolError.self) { try answer.get() }
    #expect(try #require(client.failure).description.contains("ended with exit code 3"))
  }

  @Test func `a program that dies is not kept alive by whom it has started`() throws {
    let client = try Self.client("sleep 20 & kill -KILL $$")
    let answer = client.call("open", timeout: .seconds(15))
    #expect(throws: PeerProtocolError.self) { try answer.get() }
    #expect(try #require(client.failure).description.contains("was ended by signal 9 (Killed)"))
  }

  @Test(arguments: ["starting up", "[1]", "{}", #"{"id":1}"#, #"{"id":99,"result":{}}"#])
  func `a program that speaks something else is named at once, with what it said`(line: String) throws {
    let client = try Self.client("read a; echo '\(line)'; read b")
    let answer = client.call("open", timeout: .seconds(60))
    #expect(throws: PeerProtocolError.self) { try answer.get() }
    #expect(try #require(client.failure).description.hasSuffix("of the peer protocol: \(line)"))
  }

  @Test func `a request that is answered twice is named, and empty lines are not`() throws {
    let client = try Self.client(#"a='{"id":1,"result":{}}'; read b; echo; echo "$a"; read c; echo "$a"; read d"#)
    #expect(try client.call("open").get() == [:])
    #expect(throws: PeerProtocolError.self) { try client.call("getStats").get() }
    #expect(try #require(client.failure).description.contains(#"{"id":1,"result":{}}"#))
  }

  @Test func `a program that says again what it was asked has not answered`() throws {
    let client = try Self.client("exec cat")
    #expect(throws: PeerProtocolError.self) { try client.call("open").get() }
    #expect(try #require(client.failure).description.contains(#"of the peer protocol: {"id":1,"method":"open""#))
  }

  @Test func `a program that does not answer is noticed also when nobody waits for it`() throws {
    let client = try Self.client("read a; read b")
    client.send("setLocalDescription", [:])
    client.checkTimeouts()
    #expect(client.failure == nil)
    client.checkTimeouts(.nanoseconds(-1))
    #expect(try #require(client.failure).description.contains("did not answer setLocalDescription within"))
  }

  @Test func `a large request reaches a program that reads slowly`() throws {
    let client = try Self.client(#"sleep 0.05; read a; echo "{\"id\":1,\"result\":{\"n\":${#a}}}"; read c"#)
    let sdp = String(repeating: "x", count: 300_000)
    let length = try client.call("setRemoteDescription", ["sdp": .string(sdp)]).get()["n"]?.integer
    #expect(try #require(length) > 300_000)
  }

  @Test func `a program that does not go is ended`() throws {
    let program = try ChildProgram(
      ["/bin/sh", "-c", "trap '' TERM; while :; do sleep 1; done"],
      environment: ChildProgram.inheritedEnvironment, in: nil)
    program.stop(timeout: .milliseconds(20))
    #expect(program.reap() == .signal(9))
  }

  @Test func `a program that is not there is said to be unavailable`() {
    #expect {
      _ = try ChildProgram(["/nowhere/program"], environment: [], in: nil)
    } throws: { error in
      let error = error as? ExternalError
      return error?.kind == .unavailable && error?.description.contains("'/nowhere/program'") == true
    }
  }

  private func error(_ text: String) -> ExternalError { ExternalError(.harness, text) }
}
