import Foundation
import Testing

/// Runs with real programs; a machine that cannot make them has to say so, and is held to that.
@Suite struct ExternalTests {
  private static let probe = """
    import os, socket, sys, time
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(20)
    began = time.monotonic()
    s.sendto(bytes.fromhex("000100002112a442" + "00" * 12), (os.environ["CALLSIM_ADDRESS_STUN"], 3478))
    answer = s.recv(999)
    sys.exit(0 if answer[:2] == b"\\x01\\x01" and time.monotonic() - began >= 0.04 else 1)
    """

  private static func scenario(_ command: String, code: Int = 0) -> String {
    """
    callsim: 1
    id: e
    limits: { virtual: 30s, lag: 8s }
    topology:
      networks:
        internet: { cidr: 203.0.113.0/24 }
        lan: { cidr: 192.168.5.0/24, nat: { to: internet } }
      links:
        air: { from: probe, to: lan, delay: 20ms }
      servers:
        stun: { kind: stun, network: internet }
    peers:
      probe: { stack: external, protocol: none, command: \(command) }
    expect:
      - { eventually: probe.program.exit-code == \(code), within: 25s }
      - { always: probe.network == air, between: [100ms, 200ms] }
    """
  }

  /// What `callsim doctor` says of this machine.
  private static let isAble = (try? Program.run(["doctor"]))?.output.contains("real programs   ok") ?? false

  private static let intoUserNamespace = ["unshare", "--user", "--map-root-user"]
  /// Some machines let nobody but root have a user namespace.
  private static let hasUserNamespaces =
    (try? Program.run(["doctor"], launcher: intoUserNamespace))?.errors.contains("unshare: ") == false

  /// Nothing was shown, and the machine's owner was told why.
  private static func expectSkipped(_ outcome: Program.Outcome) {
    #expect(outcome.output.contains("SKIP e#1"), "\(outcome.output)")
    #expect(outcome.status == 7 && outcome.output.contains("1 skipped"), "\(outcome.output)")
  }

  @Test(.enabled(if: isAble, "this machine cannot run real programs"))
  func `a real program meets the simulated network and its exit code is judged`() throws {
    let workspace = try Workspace(["e.yaml": Self.scenario("[python3, probe.py]"), "probe.py": Self.probe])
    let outcome = try workspace.run("run", "--allow-programs", "e.yaml")
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.output.contains("real time, not reproducible, lag at most"))
  }

  @Test(.enabled(if: isAble, "this machine cannot run real programs"))
  func `a program that ends otherwise fails the run`() throws {
    let workspace = try Workspace(["e.yaml": Self.scenario("[sh, -c, exit 3]")])
    let outcome = try workspace.run("run", "--allow-programs", "e.yaml", "--artifacts", "none")
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("probe.program.exit-code is 3"), "\(outcome.output)")
  }

  /// What a stopped program does not do says nothing, whether the run would have passed or failed.
  @Test(.enabled(if: isAble, "this machine cannot run real programs"), arguments: [0, 3])
  func `a program that was stopped for a while leaves the run inconclusive`(code: Int) throws {
    let script = "(sleep 1.5; kill -CONT $$) & kill -STOP $$; exit \(code)"
    let workspace = try Workspace(["e.yaml": Self.scenario("[sh, e.sh]"), "e.sh": script])
    let outcome = try workspace.run("run", "--allow-programs", "e.yaml", "--artifacts", "none")
    #expect(outcome.status == 4, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.output.contains("probe's program was stopped by a signal at "), "\(outcome.output)")
  }

  @Test func `a file that names a program is code, and is run only when somebody says so`() throws {
    let workspace = try Workspace(["e.yaml": Self.scenario("[sh, -c, touch here]")])
    for command in [["run", "e.yaml"], ["replay", "e#1", "e.yaml"]] {
      let outcome = try Program.run(command, in: workspace.path)
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains("e.yaml starts a program as the peer 'probe': sh -c 'touch here'; it may do all"))
      #expect(outcome.errors.contains("--allow-programs"))
    }
    #expect(!workspace.has("here"))
  }

  @Test(.enabled(if: isAble, "this machine cannot run real programs"))
  func `a program sees the variables it needs and those it is given, and no others`() throws {
    let workspace = try Workspace(["e.yaml": Self.scenario("[sh, -c, env > seen]")])
    let secrets = ["GITHUB_TOKEN": "t0ken", "AWS_SECRET_ACCESS_KEY": "k3y", "CHROMIUM": "/opt/c"]
    let outcome = try workspace.run(
      "run", "--allow-programs", "--pass-env", "CHROMIUM", "e.yaml", environment: secrets)
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    let seen = try workspace.text("seen")
    #expect(!seen.contains("t0ken") && !seen.contains("k3y"))
    #expect(seen.contains("CHROMIUM=/opt/c\n") && seen.contains("PATH=") && seen.contains("CALLSIM_ADDRESS_STUN="))
  }

  @Test func `a program that is not there skips the run and says so`() throws {
    let workspace = try Workspace(["e.yaml": Self.scenario("[no-such-program]")])
    let outcome = try workspace.run("run", "--allow-programs", "e.yaml", "--report", "junit=j.xml")
    Self.expectSkipped(outcome)
    #expect(try workspace.text("j.xml").contains("<skipped message="))
  }

  @Test(.enabled(if: !isAble, "this machine can run real programs"))
  func `a machine that cannot run real programs skips the run and says so`() throws {
    let workspace = try Workspace(["e.yaml": Self.scenario("[sh, -c, exit 0]")])
    Self.expectSkipped(try workspace.run("run", "--allow-programs", "e.yaml"))
  }

  @Test(.enabled(if: hasUserNamespaces, "there are no user namespaces for whoever is not root"))
  func `whoever may leave the network but not come back is told that it takes root`() throws {
    let workspace = try Workspace(["e.yaml": Self.scenario("[sh, -c, exit 0]")])
    let outcome = try Program.run(
      ["run", "--allow-programs", "e.yaml"], in: workspace.path, launcher: Self.intoUserNamespace)
    Self.expectSkipped(outcome)
    #expect(outcome.output.contains("it takes root"), "\(outcome.output)")
  }

  @Test(.enabled(if: isAble, "this machine cannot run real programs"), arguments: ["", "exec >&-; "])
  func `a program that has much to say on standard error is not held up`(beginning: String) throws {
    let script = beginning + "yes 0123456789 | head -c 300000 >&2; exit 5"
    let workspace = try Workspace(["e.yaml": Self.scenario("[sh, e.sh]", code: 5), "e.sh": script])
    let outcome = try workspace.run("run", "--allow-programs", "e.yaml")
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
  }

  @Test(.enabled(if: isAble, "this machine cannot run real programs"))
  func `a program that cannot repeat itself is not asked to`() throws {
    let workspace = try Workspace(["e.yaml": Self.scenario("[sh, -c, exit 0]")])
    let outcome = try workspace.run("run", "--allow-programs", "e.yaml", "--check-determinism")
    #expect(outcome.status == 0, "\(outcome.output)")
    #expect(outcome.output.contains("not reproducible"))
  }

  /// Leaves a process that nobody waits for, a file in its own folder, and word of where both are.
  private static let lingering = """
    setsid sleep 60 & touch "$TMPDIR/left"
    printf '%s %s' "$(readlink /proc/self/ns/net)" "$TMPDIR" > here; mv here there; sleep 60
    """

  @Test(.enabled(if: isAble, "this machine cannot run real programs"), arguments: [SIGKILL, SIGINT])
  func `nothing is left of a run that is killed`(signal: Int32) throws {
    let workspace = try Workspace(["e.yaml": Self.scenario("[sh, linger.sh]"), "linger.sh": Self.lingering])
    let process = try Program.start(["run", "--allow-programs", "e.yaml"], in: workspace.path)
    while process.isRunning, !workspace.has("there") { usleep(5_000) }
    try #require(process.isRunning)
    let words = try workspace.text("there").split(separator: " ").map(String.init)
    let (space, folder) = (words[0], words[1])
    #expect(Self.isInhabited(space) && FileManager.default.fileExists(atPath: folder + "/left"))
    let worker = Self.children(of: process.processIdentifier)
    #expect(worker.count == 1)
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    let limit = ContinuousClock.now + .seconds(20)
    func isLeft() -> Bool {
      worker.contains { kill($0, 0) == 0 } || Self.isInhabited(space) || FileManager.default.fileExists(atPath: folder)
    }
    while isLeft(), .now < limit { usleep(5_000) }
    #expect(!isLeft())
  }

  private static func processes() -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.filter { Int($0) != nil }
  }

  /// Whether a process is in a network namespace, by what the link to it says.
  private static func isInhabited(_ space: String) -> Bool {
    processes().contains { (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\($0)/ns/net")) == space }
  }

  private static func children(of parent: Int32) -> [Int32] {
    processes().filter { name in
      (try? String(contentsOfFile: "/proc/\(name)/status", encoding: .utf8))?.contains("PPid:\t\(parent)\n") == true
    }.compactMap { Int32($0) }
  }

  /// A peer that speaks the protocol and has the network answer before it has set its description.
  private static let gatherer = """
    import json, os, socket, sys
    RESULTS = {"open": {"agent": "gatherer"}, "addTrack": {"track": "a"}, "getStats": {"stats": {}},
               "createOffer": {"type": "offer", "sdp": "v=0\\r\\n"}}
    for line in sys.stdin:
        request = json.loads(line)
        reply = {"id": request["id"], "result": RESULTS.get(request["method"], {})}
        if request["method"] == "setLocalDescription":
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(4)
            s.sendto(bytes.fromhex("000100002112a442" + "00" * 12), (os.environ["CALLSIM_ADDRESS_STUN"], 3478))
            try: s.recv(999)
            except TimeoutError: reply = {"id": request["id"], "error": {"name": "OperationError", "message": "no network"}}
        print(json.dumps(reply), flush=True)
    """

  private static func call(_ command: String, start: String = "20s") -> String {
    """
    callsim: 1
    id: c
    limits: { virtual: 30s, lag: 8s, start: \(start) }
    topology:
      servers: { stun: { kind: stun, network: internet } }
    peers:
      alice: { profile: knotos, network: home, stack: external, command: \(command) }
      bob: { profile: knotos, network: home }
    timeline:
      - { at: 0s, do: alice.call, to: bob }
      - { id: bye, at: 6s, do: alice.hangup }
    expect:
      - { eventually: alice.signaling.state == have-local-offer, within: 5s }
      - { ends: alice, code: local-hangup, within: 5s, of: bye }
    """
  }

  @Test(.enabled(if: isAble, "this machine cannot run real programs"))
  func `the network goes on while a program sets its description`() throws {
    let workspace = try Workspace(["c.yaml": Self.call("[python3, peer.py]"), "peer.py": Self.gatherer])
    let outcome = try workspace.run("run", "--allow-programs", "c.yaml")
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    #expect(!workspace.has("callsim-runs"))
  }

  @Test(
    .enabled(if: isAble, "this machine cannot run real programs"),
    arguments: [
      ("echo starting up; read a", "of the peer protocol: starting up"),
      ("exec cat", #"of the peer protocol: {"id":1,"method":"open""#),
      ("echo no such device >&2; sleep 60", "did not answer open within 2s"),
      ("read a; kill -SEGV $$", "was ended by signal 11"),
    ])
  func `a program that is no peer is named, with what it said`(script: String, complaint: String) throws {
    let workspace = try Workspace(["c.yaml": Self.call("[sh, peer.sh]", start: "2s"), "peer.sh": script])
    let outcome = try workspace.run("run", "--allow-programs", "c.yaml")
    #expect(outcome.status == 5 && outcome.output.contains(complaint), "\(outcome.output)")
    guard script.contains("device") else { return }
    #expect(outcome.output.contains("alice's program wrote to standard error: no such device"), "\(outcome.output)")
    #expect(try workspace.text("callsim-runs/c#1/alice.stderr.txt") == "no such device\n")
  }

  @Test(.enabled(if: isAble, "this machine cannot run real programs"))
  func `a program that a signal ends is named with it, and what it said is kept`() throws {
    let script = "echo here; echo there >&2; sleep 60 & kill -SEGV $$"
    let workspace = try Workspace(["e.yaml": Self.scenario("[sh, e.sh]"), "e.sh": script])
    let outcome = try workspace.run("run", "--allow-programs", "e.yaml")
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("probe's program was ended by signal 11"), "\(outcome.output)")
    #expect(outcome.output.contains("probe's program wrote to standard error: there"), "\(outcome.output)")
    #expect(try workspace.text("callsim-runs/e#1/probe.stdout.txt") == "here\n")
    #expect(try workspace.text("callsim-runs/e#1/probe.stderr.txt") == "there\n")
  }

  @Test func `a program takes the place of a peer of the file, or is told that there is none`() throws {
    let workspace = try Workspace(["e.yaml": Fixture.scenario("a")])
    let outcome = try workspace.run("run", "e.yaml", "--peer", "alise=external:x")
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("--peer names 'alise', which is no peer of e.yaml"), "\(outcome.errors)")
    #expect(try workspace.run("run", "e.yaml", "--peer", "alice=x").status == 2)
  }
}
