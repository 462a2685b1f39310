// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "callsim-benchmarks",
  platforms: [.macOS(.v26)],
  dependencies: [.package(name: "callsim", path: "..")],
  targets: [
    .executableTarget(
      name: "callsim-bench",
      dependencies: [.product(name: "CallSim", package: "callsim")],
      swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")])
  ])
