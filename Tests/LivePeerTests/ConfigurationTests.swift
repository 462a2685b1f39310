import CallCore
import Foundation
import PeerSession
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
    for text in ["turns:198.51.100.7", "TURNS:198.51.100.7?transport=tcp"] {
      let server = try #require(try ICEServerURI(text).resolve().first)
      #expect(server.transport == .tls && server.endpoint == Endpoint("198.51.100.7:5349") && server.host == nil)
      #expect(server.url == "turns:198.51.100.7:5349?transport=tcp")
    }
    let named = try #require(try ICEServerURI("turns:localhost:443").resolve().first)
    #expect(named.host == "localhost" && named.url == "turns:localhost:443?transport=tcp")
  }

  @Test(arguments: [
    "", "stun", "http://x", "stun:", "stun:host:0", "stun:host:99999", "stun:h?transport=tcp", "turn:h?transport=sctp",
    "stuns:h", "turns:", "turns:h?transport=udp", "turns:h?transport=tls", "turn:h?x", "turns:h:0",
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
    #expect(error?.remedy?.contains("sox") == true)
  }

  private static func samples(of bytes: [UInt8]) throws -> [Int16] {
    let path = NSTemporaryDirectory() + "callsim-\(UUID().uuidString).wav"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(bytes).write(to: URL(filePath: path))
    return try WAVRecording(path: path).samples
  }

  /// A header and what follows it.
  ///
  /// - Parameters:
  ///   - dataSize: the length of the samples, as the header has it.
  ///   - changes: what is to be different in the header, by its place.
  private static func wav(_ dataSize: UInt32, _ changes: [Int: UInt8] = [:], _ rest: [UInt8] = []) -> [UInt8] {
    var bytes = WAVFile.header(dataSize: dataSize)
    for (offset, byte) in changes { bytes[offset] = byte }
    return bytes + rest
  }

  private static let emptyChunk = [UInt8]("LIST\0\0\0\0".utf8)
  private static let none = "has no samples"

  private static let broken: [(bytes: [UInt8], reason: String)] = [
    ([], "is not a WAV file"), ([UInt8]("RIF".utf8), "is not a WAV file"),
    (wav(100).dropLast(32), none), (wav(100).dropLast(8), none), (wav(100).dropLast(4), none),
    (wav(0), none), (wav(0xFFFF_FFFF), none), (wav(0x7FFF_F000), none),
    // Complete and empty, since the RIFF header has the whole length.
    (wav(0, [4: 44], emptyChunk), none),
    (wav(100), "ends before its header says: 0 of 100 bytes of samples"),
    (
      wav(96_000, [:], [UInt8](repeating: 1, count: 4_956)),
      "ends before its header says: 4956 of 96000 bytes of samples"
    ),
    (wav(3, [:], [1, 2, 3]), "is malformed: 3 bytes are no whole number of 16-bit samples"),
    (wav(100).dropLast(24), "is malformed: the chunk at byte 12 is to have 16 bytes, and 0 are left"),
    (
      wav(4, [16: 255, 17: 255, 18: 255, 19: 255], [1, 2, 3, 4]),
      "is malformed: the chunk at byte 12 is to have 4294967295 bytes, and 28 are left"
    ),
    (wav(4, [16: 14], [1, 2, 3, 4]), "is malformed: its format has 14 bytes, not 16"),
    (wav(4, [12: 0], [1, 2, 3, 4]), "is malformed: its samples come before its format"),
  ]

  @Test(arguments: broken.indices)
  func `a WAV file that cannot be played whole is refused with what is wrong`(which: Int) {
    let error = #expect(throws: FileError.self) { try Self.samples(of: Self.broken[which].bytes) }
    #expect(error?.reason == Self.broken[which].reason)
  }

  @Test(arguments: [
    wav(0), wav(0, [4: 0]), wav(0xFFFF_FFFF, [4: 255, 5: 255, 6: 255, 7: 255]), wav(0x7FFF_F000), wav(0x8000_0000),
  ])
  func `a WAV file whose length was never filled in is played to its end`(header: [UInt8]) throws {
    #expect(try Self.samples(of: header + [1, 0, 2, 0, 3]) == [1, 2])
  }

  @Test func `what follows the samples of a WAV file is not played`() throws {
    #expect(try Self.samples(of: Self.wav(4, [:], [1, 0, 2, 0] + Self.emptyChunk)) == [1, 2])
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
    let session = CallSession(configuration: .live(wallClock: WallClock(), random: random), random: random, at: .zero)
    try session.addTransceiver(.audio, TransceiverInit(direction: .recvonly))
    let offer = try session.createOffer().sdp
    #expect(offer.contains("a=ice-ufrag:////\r\n"))
    #expect(offer.contains("a=ice-pwd:" + String(repeating: "/", count: 24) + "\r\n"))
    #expect(offer.contains("o=- \(word >> 2) "))
  }
}
