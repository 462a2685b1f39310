// swift-tools-version: 6.2
import PackageDescription

let collections: Target.Dependency = .product(name: "Collections", package: "swift-collections")

let package = Package(
  name: "callsim",
  platforms: [.macOS(.v26)],
  products: [
    .executable(name: "callsim", targets: ["callsim"]),
    .library(
      name: "CallSim",
      targets: ["CallCore", "SimNet", "CallSession", "VirtualPeer", "Profiles", "Scenarios"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ]
)

// One row a target: what it may import is what stands here, and LinkageTests reads the built result.
// CallCore and everything under CallStack and SimNet stay free of Foundation.
let stack = "Sources/CallStack/"
let c = "Sources/CLibraries/"
package.targets = [
  .systemLibrary(name: "COpenSSL", path: c + "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
  .systemLibrary(name: "CSRTP", path: c + "CSRTP", pkgConfig: "libsrtp2", providers: [.apt(["libsrtp2-dev"])]),
  .systemLibrary(name: "COpus", path: c + "COpus", pkgConfig: "opus", providers: [.apt(["libopus-dev"])]),
  .systemLibrary(name: "CVPX", path: c + "CVPX", pkgConfig: "vpx", providers: [.apt(["libvpx-dev"])]),
  .target(name: "CVirtualClock", path: c + "CVirtualClock"),

  .target(name: "CallCore"),

  .target(name: "Digests", dependencies: ["COpenSSL"], path: stack + "Digests"),
  .target(name: "STUN", dependencies: ["CallCore", "Digests"], path: stack + "STUN"),
  .target(name: "ICE", dependencies: ["CallCore", "STUN"], path: stack + "ICE"),
  .target(name: "TURN", dependencies: ["CallCore", "STUN", "Digests"], path: stack + "TURN"),
  .target(name: "SDP", dependencies: ["CallCore"], path: stack + "SDP"),
  .target(name: "RTP", dependencies: ["CallCore"], path: stack + "RTP"),
  .target(name: "JitterBuffer", dependencies: ["CallCore", "RTP", "Codecs"], path: stack + "JitterBuffer"),
  .target(name: "DTLS", dependencies: ["CallCore", "SRTP", "COpenSSL", "CVirtualClock"], path: stack + "DTLS"),
  .target(name: "SRTP", dependencies: ["CallCore", "CSRTP"], path: stack + "SRTP"),
  .target(name: "Codecs", dependencies: ["CallCore", "COpus", "CVPX"], path: stack + "Codecs"),
  .target(
    name: "CallSession",
    dependencies: [
      "CallCore", "STUN", "ICE", "TURN", "SDP", "RTP", "JitterBuffer", "DTLS", "SRTP", "Codecs", "Digests",
    ],
    path: stack + "CallSession"),

  .target(name: "SimNet", dependencies: ["CallCore"]),
  .target(
    name: "VirtualPeer",
    dependencies: ["CallCore", "SimNet", "CallSession", "STUN", "TURN", "ICE", "SDP", "DTLS", "Codecs", "Digests"]),
  .target(name: "Profiles", dependencies: ["CallCore", "CallSession", "ICE", "SDP", "VirtualPeer"]),
  .target(
    name: "Scenarios",
    dependencies: [
      "CallCore", "SimNet", "CallSession", "VirtualPeer", "Profiles", "ICE", "DTLS", "STUN", "TURN", "Yams",
      collections,
    ]),
  .executableTarget(
    name: "callsim",
    dependencies: [
      "CallCore", "CallSession", "VirtualPeer", "Profiles", "Scenarios",
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ]),
]

let tested: [String: [Target.Dependency]] = [
  "CallCore": [], "Digests": [], "STUN": ["CallCore", "Digests"], "ICE": ["CallCore", "STUN"],
  "TURN": ["CallCore", "STUN", "Digests"], "SDP": ["CallCore"], "RTP": ["CallCore"],
  "JitterBuffer": ["CallCore", "RTP", "Codecs"], "DTLS": ["CallCore", "SRTP", "CVirtualClock"],
  "SRTP": ["CallCore", "COpenSSL"],
  "Codecs": ["CallCore"], "CallSession": ["CallCore", "Codecs", "DTLS", "SDP", "ICE", "STUN", "TURN"],
  "SimNet": ["CallCore"],
  "VirtualPeer": ["CallCore", "SimNet", "CallSession"],
  "Profiles": ["CallCore", "SimNet", "CallSession", "DTLS", "VirtualPeer"],
  "Scenarios": ["CallCore", "SimNet", "VirtualPeer", "Profiles", "Yams"],
]
let corpora = ["SDP": ["Recorded"], "Scenarios": ["Broken", "Valid"]]
for (name, others) in tested.sorted(by: { $0.key < $1.key }) {
  package.targets.append(
    .testTarget(
      name: name + "Tests", dependencies: [.byName(name: name)] + others,
      exclude: corpora[name] ?? []))
}

// These look at the package from outside: its source text, and the built program.
package.targets += [
  .testTarget(name: "LinkageTests"),
  .testTarget(name: "CommandLineTests", dependencies: ["callsim"], exclude: ["Help"]),
]

for target in package.targets where target.type != .system && target.name != "CVirtualClock" {
  target.swiftSettings = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ]
  if Context.environment["CI"] != nil { target.swiftSettings?.append(.treatAllWarnings(as: .error)) }
}
