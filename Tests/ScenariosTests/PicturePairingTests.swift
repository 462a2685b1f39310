import CallCore
import Pictures
import Testing

@testable import ScenarioRun
@testable import VirtualPeer

/// Which pictures stand side by side for programs that score them.
@Suite struct PicturePairingTests {
  private let size = PictureSize(64, 48)

  /// Plays captures and shows in order. Returns the number of each taken picture with that of the seen one, -1 for black.
  private func pairs(_ events: [Event], cameras: Int = 1) throws -> [[Int]] {
    let records = (0..<cameras).map { _ in VideoRecord() }
    let size = try #require(size)
    for record in records { record.paint(from: 0, size, with: .generated(GeneratedVideo(.movingBars, size: size))) }
    var found: [[Int]] = []
    let pairing = PicturePairing(cameras: records) { pair in
      found.append([pair.taken, pair.seen].map { $0.contentID.map(Int.init) ?? -1 })
    }
    for event in events {
      switch event {
      case .take(let number): pairing.take(number, for: .milliseconds(33), from: records[0])
      case .see(let number):
        pairing.see(GeneratedVideo(.movingBars, size: size).frame(number), number: number, from: records[0])
      case .seeBlack(let number): pairing.see(VideoFrame(filled: size), number: number, from: records[0])
      case .begin: pairing.begin(records[0])
      case .end: pairing.finish()
      }
    }
    return found
  }

  private enum Event {
    case take(UInt32)
    case see(UInt32)
    case seeBlack(UInt32)
    case begin
    case end
  }

  @Test func `a picture that is seen stands beside itself`() throws {
    #expect(try pairs([.take(1), .take(2), .see(1), .take(3), .see(2), .see(3)]) == [[1, 1], [2, 2], [3, 3]])
  }

  @Test func `beside a picture that never comes stands the one before`() throws {
    #expect(
      try pairs([.take(1), .see(1), .take(2), .take(3), .take(4), .see(4)]) == [[1, 1], [2, 1], [3, 1], [4, 4]])
  }

  @Test func `before the first picture the screen is black`() throws {
    #expect(try pairs([.take(1), .take(2), .see(2)]) == [[1, -1], [2, 2]])
  }

  @Test func `while a camera is off there is nothing to see, and what comes then stands until the next picture`() throws
  {
    #expect(
      try pairs([.take(1), .take(2), .see(1), .seeBlack(4), .take(5), .take(6), .see(6)])
        == [[1, 1], [2, 1], [5, -1], [6, 6]])
  }

  @Test func `a screen that stands still is scored to the end`() throws {
    let taken = (2...60).map { Event.take($0) }
    let found = try pairs([.take(1), .see(1)] + taken + [.end])
    #expect(found == [[1, 1]] + (2...60).map { [$0, 1] })
  }

  @Test func `a screen that stays black is scored if there is one camera, and of several none is its own`() throws {
    let taken = (1...40).map { Event.take($0) }
    #expect(try pairs(taken + [.end]) == (1...40).map { [$0, -1] })
    #expect(try pairs(taken + [.end], cameras: 2).isEmpty)
  }

  @Test func `a picture that was not taken in time changes the screen alone`() throws {
    #expect(try pairs([.see(1), .take(2), .take(3), .see(3)]) == [[2, 1], [3, 3]])
  }

  @Test func `pictures on their way at the end of a call do not hold up the next`() throws {
    let first: [Event] = [.take(1), .see(1), .take(2), .take(3)]
    #expect(
      try pairs(first + [.begin, .take(4), .take(5), .see(5), .take(6), .end])
        == [[1, 1], [2, 1], [3, 1], [4, -1], [5, 5], [6, 5]])
  }

  @Test func `a call in which nothing is seen is black, whatever was seen before`() throws {
    #expect(
      try pairs([.take(1), .see(1), .begin, .take(2), .take(3), .end], cameras: 2) == [[1, 1], [2, -1], [3, -1]])
  }

  @Test func `of several cameras, what one films for others is nothing of this call`() throws {
    #expect(try pairs([.take(1), .take(2), .begin, .take(3), .end], cameras: 2).isEmpty)
  }

  @Test func `numbers may begin anew`() throws {
    let last = UInt32.max
    #expect(try pairs([.take(last), .take(0), .see(0)]) == [[Int(last), -1], [0, 0]])
  }
}
