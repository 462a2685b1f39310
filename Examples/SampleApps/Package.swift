// swift-tools-version: 6.2
import PackageDescription

// An app as the guide of each product has it, and its program.
let samples = ["ConnectyCubeSample", "KnotosSample", "TwilioSample", "VonageSample"]

let package = Package(
  name: "SampleApps",
  platforms: [.macOS(.v26)],
  products: [.executable(name: "sample-apps", targets: ["SampleAppsProgram"])],
  dependencies: [.package(name: "callsim", path: "../..")],
  targets: samples.map { .target(name: $0, dependencies: [.product(name: "CallSim", package: "callsim")]) } + [
    .executableTarget(
      name: "SampleAppsProgram",
      dependencies: samples.map { .byName(name: $0) } + [.product(name: "CallSimCommand", package: "callsim")],
      path: "Sources/Program"),
    .testTarget(
      name: "SampleAppsTests",
      dependencies: samples.map { .byName(name: $0) } + [.product(name: "CallSimTesting", package: "callsim")]),
  ]
)
