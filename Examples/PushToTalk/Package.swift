// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "PushToTalk",
  platforms: [.macOS(.v26)],
  products: [.executable(name: "push-to-talk", targets: ["PushToTalkProgram"])],
  dependencies: [.package(name: "callsim", path: "../..")],
  targets: [
    .target(name: "PushToTalk", dependencies: [.product(name: "CallSim", package: "callsim")]),
    .executableTarget(
      name: "PushToTalkProgram", dependencies: ["PushToTalk", .product(name: "CallSimCommand", package: "callsim")],
      path: "Sources/Program"),
    .testTarget(
      name: "PushToTalkTests", dependencies: ["PushToTalk", .product(name: "CallSimTesting", package: "callsim")]),
  ]
)
