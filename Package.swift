// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "callsim",
  platforms: [.macOS(.v26)],
  products: [
    .executable(name: "callsim", targets: ["CallSimMain"]),
    // For editors and other readers of scenario files.
    .library(name: "ScenarioFormat", targets: ["ScenarioFormat"]),
    // For an app of one's own, its command line and its tests.
    .library(name: "CallSim", targets: ["CallSim"]),
    .library(name: "CallSimCommand", targets: ["CallSimCommand"]),
    .library(name: "CallSimTesting", targets: ["CallSimTesting"]),
  ],
  // Exact versions: the same tree must give the same bytes on every machine (docs/decisions.md).
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
  ]
)

// One row a target: what it may import is what stands here. LinkageTests reads the sources for imports that get past it.
// CallCore and everything under CallStack and SimNet stay free of Foundation.
let stack = "Sources/CallStack/"
let c = "Sources/CLibraries/"
// What only Linux has: programs outside the simulation take part there alone.
let programs = Target.Dependency.target(name: "ExternalPeer", condition: .when(platforms: [.linux]))
let linux = Target.Dependency.target(name: "CLinux", condition: .when(platforms: [.linux]))
// What the page of `--report html` is put together from.
let page = [
  "report.html", "report.css", "page.js", "suite.js", "timeline.js", "lanes.js", "charts.js", "sequence.js", "run.js",
  "static.html", "coverage.css", "compare.css",
].map { Resource.embedInCode("Report/Page/\($0)") }
package.targets = [
  .systemLibrary(name: "COpenSSL", path: c + "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
  .systemLibrary(name: "COpus", path: c + "COpus", pkgConfig: "opus", providers: [.apt(["libopus-dev"])]),
  .systemLibrary(name: "CVPX", path: c + "CVPX", pkgConfig: "vpx", providers: [.apt(["libvpx-dev"])]),
  .systemLibrary(
    name: "COpenH264", path: c + "COpenH264", pkgConfig: "openh264", providers: [.apt(["libopenh264-dev"])]),
  .systemLibrary(name: "CAOM", path: c + "CAOM", pkgConfig: "aom", providers: [.apt(["libaom-dev"])]),
  .systemLibrary(name: "CDAV1D", path: c + "CDAV1D", pkgConfig: "dav1d", providers: [.apt(["libdav1d-dev"])]),
  .systemLibrary(name: "CExpat", path: c + "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
  .systemLibrary(name: "CLinux", path: c + "CLinux"),
  .target(name: "CVirtualClock", path: c + "CVirtualClock"),
  .target(name: "CNamespace", path: c + "CNamespace"),

  .target(name: "LibC"),
  .target(name: "CallCore"),

  .target(name: "Digests", dependencies: ["COpenSSL"], path: stack + "Digests"),
  .target(name: "STUN", dependencies: ["CallCore", "Digests"], path: stack + "STUN"),
  .target(name: "ICE", dependencies: ["CallCore", "STUN"], path: stack + "ICE"),
  .target(name: "TURN", dependencies: ["CallCore", "STUN", "Digests"], path: stack + "TURN"),
  .target(name: "SDP", dependencies: ["CallCore"], path: stack + "SDP"),
  // The syntax of coded pictures that payload formats and decoders read.
  .target(name: "Bitstreams", dependencies: ["CallCore"], path: stack + "Bitstreams"),
  .target(name: "RTP", dependencies: ["Bitstreams", "CallCore"], path: stack + "RTP"),
  .target(name: "CongestionControl", dependencies: ["CallCore", "RTP"], path: stack + "CongestionControl"),
  .target(name: "JitterBuffer", dependencies: ["CallCore", "RTP", "Codecs"], path: stack + "JitterBuffer"),
  .target(name: "VideoReceive", dependencies: ["Bitstreams", "CallCore", "RTP"], path: stack + "VideoReceive"),
  .target(name: "DTLS", dependencies: ["CallCore", "SRTP", "COpenSSL", "CVirtualClock"], path: stack + "DTLS"),
  .target(name: "SRTP", dependencies: ["CallCore", "COpenSSL"], path: stack + "SRTP"),
  .target(name: "SCTP", dependencies: ["CallCore", "Digests"], path: stack + "SCTP"),
  .target(name: "Pictures", dependencies: ["CallCore"], path: stack + "Pictures"),
  .target(
    name: "Codecs",
    dependencies: ["Bitstreams", "CallCore", "Pictures", "COpus", "CVPX", "COpenH264", "CAOM", "CDAV1D"],
    path: stack + "Codecs"),
  .target(name: "Statistics", path: stack + "Statistics"),
  .target(
    name: "PeerSession",
    dependencies: [
      "CallCore", "Statistics", "STUN", "ICE", "TURN", "SDP", "RTP", "CongestionControl", "JitterBuffer",
      "VideoReceive", "DTLS", "SRTP", "SCTP", "Codecs", "Pictures", "Digests",
    ],
    path: stack + "PeerSession"),

  .target(name: "Formats", dependencies: ["LibC"]),
  .target(
    name: "LivePeer",
    dependencies: [
      "CallCore", "PeerSession", "Statistics", "Codecs", "Digests", "TURN", "DTLS", "Formats", "ICE", "LibC",
      "Pictures", "SCTP", "SDP", "STUN", "CLinux",
      .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
      .product(name: "NIOHTTP1", package: "swift-nio"),
    ],
    resources: [.embedInCode("HTTP/call.html")]),

  .target(name: "SimNet", dependencies: ["CallCore"]),
  .target(name: "Vocabulary", dependencies: ["CallCore", "Formats"]),
  .target(
    name: "VirtualPeer",
    dependencies: [
      "CallCore", "SimNet", "PeerSession", "Statistics", "STUN", "TURN", "ICE", "SCTP", "SDP", "DTLS", "Codecs",
      "Digests", "Formats", "LibC", "Pictures", "Vocabulary",
    ]),
  .target(name: "ExternalRecords", dependencies: ["CallCore"]),
  .target(
    name: "ExternalPeer",
    dependencies: [
      "CallCore", "Digests", "ExternalRecords", "SimNet", "PeerSession", "Statistics", "ICE", "SCTP", "SDP", "DTLS",
      "Formats", "VirtualPeer", "Vocabulary",
      "CLinux",
      "CNamespace",
    ]),
  .target(
    name: "Profiles",
    dependencies: [
      "CallCore", "CExpat", "Digests", "PeerSession", "Formats", "ICE", "SCTP", "SDP", "Statistics", "VirtualPeer",
      "Vocabulary",
    ]),
  .target(
    name: "ScenarioFormat", dependencies: ["CallCore", "Formats", "Pictures", "SimNet", "Vocabulary"],
    path: "Sources/Scenarios/Format"),
  .target(
    name: "ScenarioJudge",
    dependencies: ["CallCore", "Formats", "ScenarioFormat", "SimNet", "Statistics", "Vocabulary"],
    path: "Sources/Scenarios/Judge"),
  .target(
    name: "ScenarioRun",
    dependencies: [
      programs, "CallCore", "Codecs", "Digests", "PeerSession", "DTLS", "ExternalRecords", "Formats", "ICE", "LibC",
      "Pictures",
      "Profiles", "STUN",
      "ScenarioFormat", "ScenarioJudge", "SimNet", "Statistics", "TURN", "VirtualPeer", "Vocabulary",
    ],
    path: "Sources/Scenarios/Run"),
  .target(
    name: "ScenarioSearch", dependencies: ["CallCore", "ScenarioFormat", "Vocabulary"],
    path: "Sources/Scenarios/Search"),
  .target(
    name: "ScenarioSuite",
    dependencies: [
      linux, "CallCore", "Codecs", "PeerSession", "ExternalRecords", "Formats", "Pictures", "Profiles",
      "ScenarioFormat",
      "ScenarioJudge", "ScenarioRun", "ScenarioSearch", "SimNet", "VirtualPeer", "Vocabulary",
    ],
    path: "Sources/Scenarios/Suite", resources: page),
  // Folders and targets may not differ in case alone, for file systems that take no notice of it.
  .target(
    name: "CallSim",
    dependencies: [
      "CallCore", "Codecs", "DTLS", "PeerSession", "Formats", "ICE", "Profiles", "SCTP", "SDP", "ScenarioFormat",
      "ScenarioJudge", "ScenarioRun", "ScenarioSuite", "SimNet", "Statistics", "VirtualPeer", "Vocabulary",
    ],
    path: "Sources/Umbrella"),
  .target(name: "CallSimTesting", dependencies: ["CallSim"]),
  .target(
    name: "CallSimCommand",
    dependencies: [
      "CallCore", "PeerSession", "CallSim", "DTLS", "Formats", "SimNet", "VirtualPeer", "Profiles", "ScenarioFormat",
      "ScenarioJudge", "ScenarioRun", "ScenarioSearch", "ScenarioSuite", "LivePeer", "STUN", "TURN",
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ]),
  .executableTarget(name: "CallSimMain", dependencies: ["CallSimCommand"], path: "Sources/callsim"),
]

package.targets.append(
  .executableTarget(
    name: "callsim-bench",
    dependencies: [
      "CallCore", "PeerSession", "Codecs", "DTLS", "SDP", "SRTP", "SimNet", "Profiles", "ScenarioFormat",
      "ScenarioJudge", "ScenarioRun", "ScenarioSuite",
    ],
    path: "Benchmarks"))

let tested: [String: [Target.Dependency]] = [
  "CallCore": [], "Digests": [], "STUN": ["CallCore", "Digests"], "ICE": ["CallCore", "StackWorlds", "STUN"],
  "TURN": ["CallCore", "Digests", "StackWorlds", "STUN"], "SDP": ["CallCore"], "Bitstreams": [],
  "RTP": ["Bitstreams", "CallCore"],
  "CongestionControl": ["CallCore", "RTP"],
  "JitterBuffer": ["CallCore", "Codecs", "RTP", "StackWorlds"],
  "VideoReceive": ["CallCore", "RTP"],
  "DTLS": ["CallCore", "CVirtualClock", "SRTP", "StackWorlds"],
  "SRTP": ["CallCore", "COpenSSL"],
  "SCTP": ["CallCore"],
  "Pictures": ["CallCore"],
  "Codecs": ["Bitstreams", "CallCore", "COpus", "Pictures", "RTP"],
  "PeerSession": [
    "CallCore", "Codecs", "CongestionControl", "DTLS", "ICE", "JitterBuffer", "Pictures", "RTP", "SCTP", "SDP",
    "StackWorlds", "Statistics", "STUN", "TURN",
  ],
  "SimNet": ["CallCore", "STUN"],
  "VirtualPeer": ["CallCore", "SimNet", "PeerSession", "Codecs", "SCTP", "StackWorlds", "Statistics", "Vocabulary"],

  "LivePeer": [
    "CAllocationCount", "CallCore", "PeerSession", "Codecs", "DTLS", "Formats", "ICE", "SDP", "SimNet", "TURN",
    "VirtualPeer",
  ],
  "ExternalPeer": ["CallCore", "ExternalRecords", "SimNet", "PeerSession", "ICE", "SDP", "Statistics", "VirtualPeer"],
  "Vocabulary": [],
  "Profiles": [
    "CallCore", "Digests", "SimNet", "PeerSession", "DTLS", "Formats", "Statistics", "VirtualPeer", "Vocabulary",
  ],
  "Scenarios": [
    "ScenarioFormat", "ScenarioJudge", "ScenarioRun", "ScenarioSearch", "ScenarioSuite", "StackWorlds", "Statistics",
    "PeerSession",
    "CallCore", "DTLS", "ExternalRecords", "Formats", "Pictures", "SCTP", "SimNet", "VirtualPeer", "Vocabulary",
    "Profiles", "Yams",
  ],
  "CallSimTesting": ["StrangerProfile"],
]
package.targets += [
  .target(name: "CAllocationCount", path: "Tests/CAllocationCount"),
  .target(
    name: "StackWorlds",
    dependencies: [
      "CallCore", "PeerSession", "Codecs", "DTLS", "ICE", "JitterBuffer", "Pictures", "RTP", "SDP", "SRTP", "STUN",
      "TURN",
    ],
    path: "Tests/StackWorlds"),
  // An app that is not built in, and its command line.
  .target(name: "StrangerProfile", dependencies: ["CallSim"], path: "Tests/StrangerProfile"),
  .executableTarget(
    name: "stranger", dependencies: ["CallSimCommand", "StrangerProfile"], path: "Tests/StrangerProgram"),
  // A profile's server and apps for programs on this machine: interop/socket-io.py and interop/xmpp.py.
  .executableTarget(
    name: "signalling-gateway",
    dependencies: ["CallCore", "DTLS", "LibC", "PeerSession", "Profiles", "SimNet", "VirtualPeer", "Vocabulary"],
    path: "interop/gateway"),
]
let corpora = ["CallSimTesting": ["Suites"], "SDP": ["Recorded"], "Scenarios": ["Broken", "Valid"]]
for (name, others) in tested.sorted(by: { $0.key < $1.key }) {
  package.targets.append(
    .testTarget(
      name: name + "Tests", dependencies: (name == "Scenarios" ? [] : [.byName(name: name)]) + others,
      exclude: corpora[name] ?? []))
}

// Bugs that others had, provoked and, with the defect planted, found.
package.targets.append(
  .testTarget(
    name: "BugPatternTests",
    dependencies: [
      "CallCore", "Codecs", "STUN", "ICE", "TURN", "SDP", "RTP", "CongestionControl", "JitterBuffer", "VideoReceive",
      "DTLS", "SRTP",
      "PeerSession", "Profiles", "ScenarioFormat", "ScenarioJudge", "ScenarioRun", "ScenarioSuite", "StackWorlds",
    ]))

// These look at the package from outside: its source text, and the built program.
package.targets += [
  .testTarget(name: "LinkageTests"),
  .testTarget(
    name: "CommandLineTests", dependencies: ["CallSimMain", "stranger", "CallCore", "DTLS"], exclude: ["Help"]),
]

// Fuzzers stand in the manifest only while they are built, without other programs: libFuzzer brings their `main`.
let fuzzing = Context.environment["CALLSIM_FUZZ"]
if fuzzing != nil {
  let others = ["CallSimCommand", "CallSimTesting", "LivePeer"]
  package.targets.removeAll { [.executable, .test].contains($0.type) || others.contains($0.name) }
  package.products = []
  let fuzzed: [String: [Target.Dependency]] = [
    "ConnectyCube": ["Profiles", "VirtualPeer"], "DTLS": ["DTLS"], "HTTP": ["VirtualPeer"], "ICECandidate": ["ICE"],
    "Knotos": ["Formats", "Profiles"], "RTCP": ["RTP"], "RTP": ["RTP", "Codecs"], "Repair": ["RTP"], "SDP": ["SDP"],
    "STUN": ["STUN"], "Scenario": ["Profiles", "ScenarioFormat", "ScenarioRun", "ScenarioSuite"],
    "Session": ["PeerSession", "Codecs", "DTLS", "ICE", "STUN", "Statistics"], "SocketIO": ["Formats"],
    "TURNClient": ["STUN", "TURN"], "TURNServer": ["STUN", "TURN"], "TURNStream": ["TURN"],
    "VideoPayload": ["RTP", "VideoReceive"], "WebSocket": ["VirtualPeer"],
  ]
  package.targets.append(.target(name: "FuzzEntry", path: "Fuzz/Entry"))
  package.targets.append(.target(name: "FuzzHarness", dependencies: ["CallCore", "STUN"], path: "Fuzz/Harness"))
  for (name, subjects) in fuzzed.sorted(by: { $0.key < $1.key }) {
    package.targets.append(
      .executableTarget(
        name: "Fuzz" + name, dependencies: ["CallCore", "FuzzEntry", "FuzzHarness"] + subjects, path: "Fuzz/" + name))
  }
}

/// Whether the tests run an optimised form of a target, with its assertions: of what plays calls, where tests are built once
/// and for all. A variable of its own, because no flag may reach those whose package depends on this one.
func isOptimizedForTests(_ target: Target) -> Bool {
  guard Context.environment["CALLSIM_OPTIMIZED_TESTS"] != nil, fuzzing != "instrumented" else { return false }
  return target.path?.hasPrefix(stack) ?? false
    || ["CallCore", "SimNet", "VirtualPeer", "ScenarioJudge"].contains(target.name)
}

/// A module at once takes a fifth less to build than its files in batches, and is built anew for a change of any of them.
let wholeModule =
  Context.environment["CALLSIM_OPTIMIZED_TESTS"] == "whole-module"
  ? ["-whole-module-optimization", "-num-threads", "2"] : []

let ownC = ["CVirtualClock", "CNamespace", "CAllocationCount", "FuzzEntry"]
for target in package.targets where target.type != .system && !ownC.contains(target.name) {
  target.swiftSettings = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .define("PLANTED_DEFECTS", .when(configuration: .debug)),
  ]
  if isOptimizedForTests(target) {
    target.swiftSettings?.append(
      .unsafeFlags(["-O", "-assert-config", "Debug"] + wholeModule, .when(configuration: .debug)))
  }
  if target.name.hasPrefix("Fuzz") {
    target.swiftSettings?.append(.unsafeFlags(["-parse-as-library"]))
    if target.type == .executable, fuzzing != "instrumented" {
      target.swiftSettings?.append(.unsafeFlags(["-sanitize=fuzzer"]))
      target.linkerSettings = [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]
    }
  }
  if Context.environment["CI"] != nil { target.swiftSettings?.append(.treatAllWarnings(as: .error)) }
}
