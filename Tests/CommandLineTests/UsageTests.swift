import Foundation
import Testing

@Suite struct UsageTests {

  @Test(arguments: [
    "callsim", "run", "validate", "list", "explain", "replay", "diff", "coverage", "open", "fuzz", "explore", "shrink",
    "merge", "bisect", "compare", "schema", "doctor", "live", "turn",
  ])
  func `every help text is as it was reviewed`(command: String) throws {
    let arguments = command == "callsim" ? ["--help"] : [command, "--help"]
    let outcome = try Program.run(arguments, environment: ["COLUMNS": "80"])
    #expect(outcome.status == 0)
    let golden = try String(contentsOfFile: Self.golden(command), encoding: .utf8)
    #expect(outcome.output == golden)
  }

  private static func golden(_ command: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Help/\(command).txt").path
  }

  @Test(
    arguments: [
      (["run", "--nope"], "Unknown option '--nope'"),
      (["runn"], "Unexpected argument 'runn'; did you mean 'run'?\n"),
      (["run", "-"], "there is no file '-'; what comes on standard input is read as /dev/stdin"),
      (["run", "s1#1"], "'s1#1' is no file but the name of a run; callsim replay 's1#1' plays it"),
      (
        ["replay", "s1#1", "--from", "2s", "--until", "1s"],
        "--from 2s comes after --until 1s, so that nothing is printed"
      ),
      (["run", "--seed", "-1"], "The value '-1' is invalid for '--seed <seed>'"),
      (["run", "--jobs", "-2"], "--jobs takes a count from 1 to 1024, not -2"),
      (["run", "--cell", ""], "--cell takes name=value, not ''"),
      (["list", "--tag", "ci"], "Error: Unknown option '--tag'\n"),
      (["run", "--grep", "x"], "Error: Unknown option '--grep'\n"),
      (["run", "--shrad", "1/2"], "Error: Unknown option '--shrad'. Did you mean '--shard'?\n"),
      (["run", "--seed", "1", "--seeds", "2"], "--seed and --seeds exclude each other; choose one"),
      (["run", "--shard", "3/2"], "--shard takes i/n with i from 1 to n, such as 2/8, not '3/2'"),
      (["run", "--seeds", "0"], "--seeds takes a count from 1 to 1000000, not 0"),
      (["run", "--jobs", "0"], "--jobs takes a count from 1 to 1024, not 0"),
      (["run", "--set", "loss"], "--set takes name=value, not 'loss'; write --set 'loss=10%'"),
      (["run", "--report", "junitt=x"], "unknown report 'junitt=x'; did you mean 'junit'?"),
      (["run", "--json", "--report", "tap=-"], "cannot share standard output; give one of them a file"),
      (["run", "--json", "--report", "json=-"], "give one of them a file: --report json=FILE"),
      (["run", "nowhere"], "'nowhere' does not exist; name a scenario file or a folder that holds some"),
      (["run"], "there is no folder 'scenarios' here; run callsim where it is, or name a file or folder"),
      (["run", "--artifacts", "some"], "--artifacts"),
      (["run", "--memory", "1"], "--memory takes 16 to 1048576 MiB, not 1"),
      (["run", "--slowest", "-1"], "--slowest"),
      (["replay", "hello#1", "--from", "soon"], "--from takes a time such as 12.3s or 250ms, not 'soon'"),
      (["fuzz", "--runs", "0"], "--runs takes a count from 1 to 100000000, not 0"),
      (["fuzz", "--moves", "sned"], "--moves names 'sned', which is no kind of move; did you mean 'send'?"),
      (["fuzz", "--wall", "soon"], "there is no folder 'scenarios' here"),
      (["explore", "--most", "0"], "--most takes a count from 1 to 100, not 0"),
      (["shrink", "a#1", "--runs", "0"], "--runs takes a count from 1 to 100000, not 0"),
      (["merge", "one"], "merge takes two folders or more; the first takes what the others hold"),
      (["merge", "one", "two"], "one holds no search; name a folder that --corpus has made"),
      (["coverage", "--jobs", "0"], "--jobs takes a count from 1 to 1024, not 0"),
      (["coverage", "--page", ""], "there is no folder 'scenarios' here"),
      (["coverage", "--format", "html"], "--format"),
      (["diff", "a#1"], "Missing expected argument '<second>'"),
      (["diff", "a#1", "b#1"], "diff takes runs, such as hello#1, or the folder of one;"),
      (["live", "--call", "http://h/\r\nX: y"], "--call takes an address such as http://127.0.0.1:8080/"),
      (["explain", "link.dwon"], "nothing is called 'link.dwon'; did you mean 'link.down'?"),
      (["replay", "hello#1", "--until", "soon"], "--until takes a time such as 12.3s or 250ms, not 'soon'"),
      (["live"], "choose one of --offer, --answer, --serve, --call and --stdio"),
      (["live", "--offer", "--stdio"], "choose one of --offer, --answer, --serve, --call and --stdio"),
      (["live", "--stdio", "--local-description", "x"], "go with --offer or --answer"),
      (["live", "--serve", "8080"], "--serve takes host:port such as 127.0.0.1:8080, not '8080'"),
      (["live", "--serve", "127.0.0.1:1", "--call", "http://127.0.0.1/"], "choose one of"),
      (["live", "--call", "https://127.0.0.1/"], "--call takes an address such as http://127.0.0.1:8080/"),
      (["live", "--offer", "--once"], "--once goes with --serve"),
      (["live", "--offer", "--play", "tone:x"], "--play takes a WAV file, tone:440"),
      (["live", "--offer", "--play", "nowhere.wav"], "nowhere.wav: No such file or directory"),
      (["live", "--offer", "--record", "nowhere/a.wav"], "nowhere/a.wav: No such file or directory"),
      (["live", "--offer", "--capture", "nowhere/a.pcapng"], "nowhere/a.pcapng: No such file or directory"),
      (["live", "--offer", "--complexity", "11"], "--complexity takes 0 to 10, not 11"),
      (["live", "--offer", "--bitrate", "1"], "--bitrate takes 6 to 510 kbit/s, not 1"),
      (["live", "--offer", "--duration", "-1"], "--duration"),
      (["live", "--offer", "--ports", "9-1"], "--ports takes a range such as 50000-50100, not '9-1'"),
      (
        ["live", "--offer", "--stun", "example.org"],
        "a server is written stun:host:port, turn:host:port or turns:host:port"
      ),
      (["live", "--offer", "--stun", "turn:127.0.0.1"], "'stun:' is wanted here"),
      (["live", "--offer", "--stun", "stun:127.0.0.1:99999"], "the port must be 1 to 65535"),
      (["live", "--offer", "--turn", "turn:127.0.0.1"], "--turn needs --username and --credential, or --turn-secret"),
      (
        ["live", "--offer", "--turn", "turn:127.0.0.1", "--credential", "b", "--turn-secret", "c"],
        "--credential and --turn-secret exclude each other; choose one"
      ),
      (["live", "--offer", "--relay-only"], "--relay-only needs a --turn server"),
      (["frobnicate"], "Unexpected argument 'frobnicate'"),
      (["turn"], "say where to serve: --listen IP:PORT or --listen-tls IP:PORT"),
      (["turn", "--listen", "localhost:3478"], "is not an address and a port, such as 192.168.1.10:3478"),
      (["turn", "--listen", "127.0.0.1:0"], "no client could authenticate: add --user or --secret"),
      (["turn", "--listen", "127.0.0.1:1", "--user", "alice"], "'alice' is not a name, a colon and a password"),
      (
        ["turn", "--listen", "127.0.0.1:1", "--user", "a:b", "--ports", "9-3"], "'9-3' is not two ports from 1 to 65535"
      ),
      (
        ["turn", "--listen", "127.0.0.1:0", "--user", "a:b", "--relay-ip", "0.0.0.0"],
        "0.0.0.0 is no address that peers can send to"
      ),
      (["turn", "--listen", "127.0.0.1:1", "--user", "a:b", "--alternate", "127.0.0.2:1"], "both must differ"),
      (["turn", "--listen", "203.0.113.7:1", "--user", "a:b"], "cannot serve: bind 203.0.113.7:1"),
      (["turn", "--listen", "127.0.0.1:1", "--listen", "127.0.0.1:1", "--user", "a:b"], "names 127.0.0.1:1 twice"),
      (
        ["turn", "--listen", "127.0.0.1:0", "--user", "a:b", "--relay-ip", "203.0.113.7"],
        "cannot serve: bind 203.0.113.7"
      ),
      (["turn", "--listen", "127.0.0.1:0", "--user", "a:b", "--relay-ip", "::1"], "there is no IPv4 relay"),
      (["turn", "--listen", "127.0.0.1:0", "--user", "a:"], "'a:' is not a name, a colon and a password"),
      (["turn", "--listen", "127.0.0.1:0", "--user", "a:b", "--user", "a:c"], "--user names 'a' twice"),
      (["turn", "--listen", "127.0.0.1:0", "--user", "a:b", "--user-quota", "0"], "--user-quota takes at least 1"),
      (["turn", "--listen", "127.0.0.1:0", "--user", "a:b", "--nonce-lifetime", "0"], "takes at least a second"),
      (
        ["turn", "--listen", "127.0.0.1:0", "--user", "a:b", "--realm", ""], "--realm takes 1 to 127 characters, not 0"
      ),
      (
        ["turn", "--listen", "127.0.0.1:0", "--user", "a:b", "--realm", String(repeating: "r", count: 128)],
        "--realm takes 1 to 127 characters, not 128"
      ),
      (
        ["turn", "--listen", "127.0.0.1:0", "--user", "a:b", "--external-ip", "::1"],
        "--external-ip ::1 stands for no relay: there is none of IPv6"
      ),
      (["live", "--offer", "--interface", "nosuch0"], "--interface names 'nosuch0', which is not up here"),
      (
        ["turn", "--listen", "127.0.0.1:0", "--user", String(repeating: "n", count: 509) + ":b"],
        "--user takes names of at most 508 bytes"
      ),
      (
        ["turn", "--listen", "127.0.0.1:0", "--user", "a:b", "--realm", "x\u{1B}y"],
        "--realm takes no control characters"
      ),
      (
        ["turn", "--listen", "127.0.0.1:0", "--user", "a:b", "--relay-ip", "224.0.0.1"],
        "224.0.0.1 is no address of a machine"
      ),
      (["live", "--offer", "--username", "alice"], "--username is for a TURN server: name one with --turn"),
      (["live", "--stdio", "--record", "x.wav"], "--record does not go with --stdio"),
      (["live", "--offer", "--bitrate", "-3"], "--bitrate takes 6 to 510 kbit/s, not -3"),
    ] as [([String], String)])
  func `bad usage exits with 2 and says what to do instead`(arguments: [String], message: String) throws {
    let workspace = try Workspace()
    let outcome = try Program.run(arguments, in: workspace.path)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
  }

  /// What one option of a command may be given, beside numbers.
  private static let values = [
    "artifacts": "all", "format": "json", "alternate": "127.0.0.1:1", "ports": "1-2", "serve": "127.0.0.1:1",
  ]
  private static let repeated = [
    "run": ["set", "peer", "arm", "measure", "pass-env", "tag", "k", "cell", "report"],
    "replay": ["trace", "set", "peer", "arm", "measure", "pass-env"],
    "compare": ["set", "peer", "arm", "measure", "pass-env", "tag", "k", "cell", "scorer", "report"],
    "diff": ["set"], "coverage": ["set", "peer", "pass-env", "tag", "k", "cell"], "validate": ["set", "peer"],
    "list": ["set", "peer"], "live": ["stun", "turn", "interface"],
    "turn": ["listen", "listen-tls", "relay-ip", "external-ip", "user", "allow", "deny"],
  ]

  @Test(arguments: [
    "run", "validate", "list", "explain", "replay", "diff", "compare", "coverage", "open", "schema", "doctor", "live",
    "turn",
  ])
  func `an option that takes one value is refused when it is given twice`(command: String) throws {
    let workspace = try Workspace()
    let dump = try Program.run([command, "--experimental-dump-help"]).output
    let description = try JSONSerialization.jsonObject(with: Data(dump.utf8)) as? [String: Any]
    let arguments = try #require((description?["command"] as? [String: Any])?["arguments"] as? [[String: Any]])
    var repeated: [String] = []
    for option in arguments where option["kind"] as? String == "option" {
      let names = try #require(option["names"] as? [[String: String]])
      let name = try #require(names.last?["name"])
      guard option["isRepeating"] as? Bool == false else {
        repeated.append(name)
        continue
      }
      let value = Self.values[name] ?? "1"
      let spellings = names.flatMap { one -> [[String]] in
        let name = one["name"] ?? ""
        return one["kind"] == "short" ? [["-\(name)", value], ["-\(name)\(value)"]] : [["--\(name)=\(value)"]]
      }
      for spelling in spellings {
        let target = ["replay": ["x#1"], "diff": ["x#1", "x#2"]][command] ?? []
        let outcome = try Program.run([command] + target + spelling + ["--\(name)", value], in: workspace.path)
        #expect(outcome.status == 2, "\(spelling)")
        #expect(outcome.errors.hasPrefix("error: --\(name) is given twice"), "\(spelling): \(outcome.errors)")
      }
    }
    #expect(repeated == Self.repeated[command] ?? [], "each of them must count")
  }

  @Test func `what looks like an option and is a value is not counted as one`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let once = try workspace.run("replay", "a#1", "--trace", "-packet", "--trace", "--until", "--until", "1s")
    #expect(once.errors.contains("nothing in this run is called '-until'"), "\(once.errors)")
    let after = try workspace.run("run", "--seed", "1", "--", "--seed", "--seed")
    #expect(after.errors.contains("'--seed' does not exist"), "\(after.errors)")
  }

  @Test func `the version is one line`() throws {
    let outcome = try Program.run(["--version"])
    #expect(outcome.status == 0)
    #expect(outcome.output == "callsim \(Program.version)\n")
  }

  @Test func `explain knows codes, faults, states and scenarios`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    #expect(try workspace.run("explain", "e210").output.hasPrefix("E210 (error)\n"))
    #expect(try workspace.run("explain", "link.down").output.contains("link"))
    #expect(try workspace.run("explain", "ringing").output.contains("state of call.state of knotos"))
    #expect(try workspace.run("explain", "bob.call.state").output.contains("state machine of knotos"))
    #expect(try workspace.run("explain", "consent").output.contains("invariant, on unless turned off"))
    #expect(try workspace.run("explain", "turn_transports").output.contains("key of "))
    #expect(try workspace.run("explain", "puppet").output.contains("word for the key stack of peer"))
    #expect(try workspace.run("explain", "w410").output.hasPrefix("W410 (warning)\n"))
    #expect(try workspace.run("explain").output.contains("named networks"))
    let network = try workspace.run("explain", "carrier/symmetric").output
    #expect(network.contains("udp_idle: 65s") && network.contains("quota: 1008"))
    for topic in ["expectations", "metrics", "wire", "selected", "media-both-ways", "events", "timeout", "diagnostics"]
    {
      #expect(try workspace.run("explain", topic).status == 0, "\(topic)")
    }
    let scenario = try workspace.run("explain", "a").output
    #expect(scenario.hasPrefix("a  scenarios/a.yaml\n"))
    #expect(scenario.contains("ends: alice, code: local-hangup"))
  }

  @Test func `doctor finds this machine fit`() throws {
    let outcome = try Program.run(["doctor"])
    #expect(outcome.status == 0, "\(outcome.output)")
    #expect(outcome.output.contains("virtual clock   ok\n"))
    for library in ["OpenSSL", "libopus", "libvpx", "libaom", "dav1d"] { #expect(outcome.output.contains(library)) }
  }

  @Test func `the schema is one JSON document`() throws {
    let outcome = try Program.run(["schema"])
    #expect(outcome.status == 0)
    let schema = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
    #expect(schema?["$schema"] as? String == "http://json-schema.org/draft-07/schema#")
  }
}
