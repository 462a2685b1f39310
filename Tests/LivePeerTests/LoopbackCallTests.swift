import CallCore
import DTLS
import PeerSession
import Testing

@testable import LivePeer

/// Two connections on this machine's own sockets.
@Suite struct LoopbackCallTests {
  private final class Ends {
    let loop = SocketLoop()
    let offerer: LiveConnection
    let answerer: LiveConnection
    var heard = 0
    var loudest: Int16 = 0

    init() {
      func connection(_ loop: SocketLoop) -> LiveConnection {
        let random = RandomSource.system
        var configuration = LiveConfiguration(
          session: .live(wallClock: loop.wallClock(), random: random), random: random)
        configuration.interfaces = .loopback
        return LiveConnection(configuration, world: loop)
      }
      offerer = connection(loop)
      answerer = connection(loop)
      offerer.microphone = .tone(1_000)
      answerer.onAudio = { [unowned self] samples in
        heard += samples.count
        for index in samples.indices { loudest = max(loudest, samples[index]) }
      }
    }

    func turn(until condition: () -> Bool) -> Bool { loop.turn(until: condition) }

    func connect(withAnswerersTrack: Bool = true) throws {
      try offerer.addTrack()
      if withAnswerersTrack { try answerer.addTrack() }
      try offerer.setLocalDescription(offerer.createOffer())
      let (offerer, answerer) = (offerer, answerer)
      #expect(turn { offerer.iceGatheringState == .complete })
      try answerer.setRemoteDescription(try #require(offerer.localDescription))
      try answerer.setLocalDescription(answerer.createAnswer())
      #expect(turn { answerer.iceGatheringState == .complete })
      try offerer.setRemoteDescription(try #require(answerer.localDescription))
    }
  }

  @Test func `two connections call each other over loopback, are heard, and hang up`() throws {
    let ends = Ends()
    try ends.connect()
    let (offerer, answerer) = (ends.offerer, ends.answerer)
    #expect(ends.turn { offerer.connectionState == .connected && answerer.connectionState == .connected })
    #expect(ends.turn { ends.loudest > 4_000 })
    offerer.close()
    #expect(ends.turn { answerer.dtlsState == .closed })
    #expect(offerer.isSilent)
    answerer.close()
  }

  @Test func `who has no track of its own hears what the other side says`() throws {
    let ends = Ends()
    try ends.connect(withAnswerersTrack: false)
    #expect(ends.turn { ends.loudest > 4_000 })
    ends.offerer.close()
    ends.answerer.close()
  }

  @Test func `a description of another connection's answer is refused and the call goes on`() throws {
    let ends = Ends()
    try ends.connect()
    let offerer = ends.offerer
    #expect(ends.turn { offerer.connectionState == .connected })
    let stray = try #require(ends.answerer.localDescription)
    #expect(throws: SessionError.self) { try offerer.setRemoteDescription(stray) }
    #expect(offerer.connectionState == .connected)
    offerer.close()
    ends.answerer.close()
  }

  @Test func `without a codec in common the offer is answered with a rejection, and both calls end as codec-mismatch`()
    throws
  {
    let loop = SocketLoop()
    var settings = CallSettings()
    settings.interfaces = .loopback
    let (caller, callee) = (try LiveCall(settings, loop: loop), try LiveCall(settings, loop: loop))
    var (offer, answer): (String?, SessionDescriptionText?)
    caller.onLocalDescription = { offer = $0.sdp }
    callee.onLocalDescription = { answer = $0 }
    try caller.offer()
    while offer == nil { loop.turn() }
    let g729 = try #require(offer).replacing("opus/48000/2", with: "G729/8000").replacing("a=fmtp:", with: "a=x-fmtp:")
    try callee.answer(g729)
    #expect(callee.end == CallEnd(.codecMismatch, wasUp: false))
    let rejection = try #require(answer)
    #expect(rejection.kind == .answer && rejection.rejectsEverything && rejection.sdp.contains("m=audio 0 "))
    try caller.accept(answer: rejection.sdp)
    #expect(caller.end == CallEnd(.codecMismatch, wasUp: false))
    #expect(caller.connection.isSilent && callee.connection.isSilent)
  }
}
