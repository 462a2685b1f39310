import CallCore
import CallSession
import Foundation
import SDP
import Testing

@testable import Formats
@testable import LivePeer

@Suite struct ConfigurationTests {
  @Test func `server URIs of RFC 7064 and 7065 are understood`() throws {
    let stun = try ICEServerURI("stun:198.51.100.7").resolve()
    #expect(stun.map(\.endpoint) == [Endpoint("198.51.100.7:3478")])
    let turn = try ICEServerURI("turn:[2001:db8::1]:5349?transport=tcp").resolve(
      as: TURNUser(username: "u", credential: "c"))
    #expect(turn.map(\.url) == ["turn:[2001:db8::1]:5349?transport=tcp"])
    #expect(turn.map(\.username) == ["u"])
  }

  @Test(arguments: [
    "", "stun", "http://x", "stun:", "stun:host:0", "stun:host:99999", "stun:h?transport=tcp", "turn:h?transport=sctp",
    "turns:h", "turn:h?x",
  ])
  func `other server URIs are refused with a reason`(text: String) {
    let error = #expect(throws: InvalidURI.self) { try ICEServerURI(text) }
    #expect(error?.reason.isEmpty == false)
  }

  @Test func `a time-limited credential begins with its expiry`() {
    let (username, credential) = TURNUser(username: "ann", credential: "", secret: "s").credentials
    let expiry = username.split(separator: ":").first.flatMap { Int($0) }
    #expect(username.hasSuffix(":ann"))
    #expect((expiry ?? 0) > Int(Date().timeIntervalSince1970))
    #expect(!credential.isEmpty)
  }

  private static let addresses = [
    InterfaceAddress(name: "lo", address: IPAddress(v4: 0x7F00_0001), index: 1),
    InterfaceAddress(name: "eth0", address: IPAddress(v4: 0xCB00_7105), index: 2),
    InterfaceAddress(name: "eth0", address: IPAddress(v6: 0xFE80_0000_0000_0000, 5), index: 2),
    InterfaceAddress(name: "wlan0", address: IPAddress(v6: 0x2001_0DB8_0000_0000, 7), index: 3),
  ]

  @Test func `loopback and link-local addresses are left out while there are others`() {
    #expect(InterfaceFilter().select(from: Self.addresses).map(\.name) == ["eth0", "wlan0"])
  }

  @Test func `link-local IPv6 is used where there is nothing else`() {
    let only = [Self.addresses[0], Self.addresses[2]]
    #expect(InterfaceFilter().select(from: only) == [Self.addresses[2]])
  }

  @Test func `the filter takes names, loopback and no IPv6`() {
    var filter = InterfaceFilter()
    filter.allowsLoopback = true
    filter.names = ["lo"]
    #expect(filter.select(from: Self.addresses).map(\.name) == ["lo"])
    filter.names = []
    filter.allowsIPv6 = false
    #expect(filter.select(from: Self.addresses).map(\.name) == ["lo", "eth0"])
  }

  @Test(arguments: [
    ("http://h:1/x", "http://h:1/x"), ("http://[::1]:9", "http://[::1]:9/"), ("http://h", "http://h:80/"),
  ])
  func `an http address is taken apart`(text: String, parts: String) {
    #expect(HTTPPlace(text)?.description == parts)
  }

  @Test(arguments: ["https://h", "h:1", "http://", "http://h:x/", "http://:1/"])
  func `what is no http address is refused`(text: String) { #expect(HTTPPlace(text) == nil) }

  @Test func `a WAV file that was written is read back, and another format is refused with the way to convert it`()
    throws
  {
    let path = NSTemporaryDirectory() + "callsim-\(UUID().uuidString).wav"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let samples: [Int16] = [1, -2, 32_767, -32_768]
    let file = try WAVFile(path: path)
    file.append(samples.span)
    try file.close()
    #expect(try WAVRecording(path: path).samples == samples)
    var bytes = try #require(FileManager.default.contents(atPath: path))
    bytes[24] = 0x40
    try bytes.write(to: URL(filePath: path))
    let error = #expect(throws: FileError.self) { try WAVRecording(path: path) }
    #expect(error?.reason.contains("sox") == true)
  }

  @Test(arguments: [0, 3, 12, 20, 36, 40])
  func `a WAV file that is cut short is refused`(length: Int) throws {
    let path = NSTemporaryDirectory() + "callsim-\(UUID().uuidString).wav"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(WAVFile.header(dataSize: 100).prefix(length)).write(to: URL(filePath: path))
    #expect(throws: FileError.self) { try WAVRecording(path: path) }
  }

  // MARK: Chance

  @Test func `the system's random numbers are drawn anew by every stream, also by two of one name`() {
    let source = RandomSource.system
    var first = source.stream("ice")
    var second = source.stream("ice")
    let draws = (0..<4).map { _ in [first.next(), second.next()] }
    #expect(Set(draws.flatMap { $0 }).count == 8 && !source.isRepeatable)
  }

  /// Words that are all the same show through: nothing else is behind what a session must not let others foresee.
  @Test func `all that a session draws are its source's words`() throws {
    let word: UInt64 = 0xFEDC_BA98_7654_3210
    let random = RandomSource { word }
    var session = CallSession(configuration: .live(wallClock: WallClock(), random: random), random: random, at: .zero)
    try session.addAudioTransceiver(direction: .recvonly)
    let offer = try session.createOffer().sdp
    #expect(offer.contains("a=ice-ufrag:////\r\n"))
    #expect(offer.contains("a=ice-pwd:" + String(repeating: "/", count: 24) + "\r\n"))
    #expect(offer.contains("o=- \(word >> 2) "))
  }
}
