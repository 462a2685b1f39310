import CallCore
import PeerSession
import Testing

@testable import Profiles

/// Who speaks, by levels of 20 ms that come without delay.
@Suite struct DominantSpeakerTests {
  private struct Conference {
    private let silence: UInt8 = 127
    var speaker = DominantSpeaker()
    var now = Instant.zero
    var history: [String] = []

    init(_ ids: [String] = ["alice", "bob"]) { speaker.setSpeakers(ids, at: now) }

    /// Lets each of them send at a level, or nothing, for a while.
    mutating func run(_ milliseconds: Int64, _ levels: [(String, UInt8?)], hasVoice: Bool? = true) {
      for _ in 0..<milliseconds / 20 {
        now += .milliseconds(20)
        for case (let id, let level?) in levels {
          speaker.add(
            AudioLevelIndication(level: level, hasVoice: level == silence ? false : hasVoice), of: id, at: now)
        }
        guard now.nanoseconds % DominantSpeaker.period.nanoseconds == 0 else { continue }
        if speaker.evaluate(at: now) { history.append(speaker.current ?? "nobody") }
      }
    }
  }

  private static let (voice, quieter): (UInt8, UInt8) = (20, 35)
  private let silence: UInt8 = 127

  @Test func `nobody is the speaker before somebody has spoken`() {
    var conference = Conference()
    conference.run(3_000, [("alice", silence), ("bob", silence)])
    #expect(conference.speaker.current == nil)
  }

  @Test func `the one who speaks becomes the speaker, and stays it in silence`() {
    var conference = Conference()
    conference.run(600, [("alice", silence), ("bob", Self.voice)])
    #expect(conference.speaker.current == "bob")
    conference.run(10_000, [("alice", silence), ("bob", silence)])
    #expect(conference.history == ["bob"])
  }

  @Test func `a speaker who stops is followed by the one who speaks then`() {
    var conference = Conference()
    conference.run(3_000, [("alice", Self.voice), ("bob", silence)])
    conference.run(3_000, [("alice", silence), ("bob", Self.quieter)])
    #expect(conference.history == ["alice", "bob"])
  }

  @Test func `a pause of the speaker while another coughs changes nothing`() {
    var conference = Conference()
    conference.run(3_000, [("alice", Self.voice), ("bob", silence)])
    conference.run(200, [("alice", silence), ("bob", 5)])
    conference.run(3_000, [("alice", Self.voice), ("bob", silence)])
    #expect(conference.history == ["alice"])
  }

  @Test func `who speaks on top of the speaker does not become the speaker`() {
    var conference = Conference()
    conference.run(3_000, [("alice", Self.quieter), ("bob", silence)])
    conference.run(6_000, [("alice", Self.quieter), ("bob", Self.voice)])
    #expect(conference.history == ["alice"])
  }

  @Test func `sound that its sender calls no voice does not count`() {
    var conference = Conference()
    conference.run(3_000, [("alice", 5), ("bob", silence)], hasVoice: false)
    #expect(conference.speaker.current == nil)
  }

  @Test func `without the flag of voice the level decides`() {
    var conference = Conference()
    conference.run(3_000, [("alice", 60), ("bob", Self.voice)], hasVoice: nil)
    #expect(conference.history == ["bob"])
  }

  @Test func `one whose packets stop is silent`() {
    var conference = Conference()
    conference.run(3_000, [("alice", Self.voice), ("bob", nil)])
    conference.run(3_000, [("alice", nil), ("bob", Self.voice)])
    #expect(conference.history == ["alice", "bob"])
  }

  @Test func `one who is taken out ceases to be the speaker, and is heard no more`() {
    var conference = Conference()
    conference.run(3_000, [("alice", Self.voice), ("bob", silence)])
    conference.speaker.setSpeakers(["bob"], at: conference.now)
    #expect(conference.speaker.current == nil)
    conference.run(3_000, [("alice", Self.voice), ("bob", silence)])
    #expect(conference.speaker.current == nil)
  }
}
