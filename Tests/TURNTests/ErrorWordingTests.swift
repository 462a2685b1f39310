import STUN
import Testing

@testable import TURN

/// What people read when a relay cannot be had, or is gone.
@Suite struct ErrorWordingTests {
  @Test(arguments: [
    (TURNClient.Failure.rejected(.allocate, .wrongCredentials), "Allocate was refused: Wrong Credentials"),
    (.rejected(.refresh, STUNError(499, "")), "Refresh was refused"),
    (.timedOut(.channelBind), "no answer to ChannelBind"),
    (.timedOut(STUNMethod(rawValue: 0x00A)), "no answer to method 10"),
    (.expired, "the allocation ran out before the server renewed it"),
    (.connectionLost(), "the connection to the server was lost"),
    (.connectionLost(reason: "TLS: x"), "the connection to the server was lost: TLS: x"),
    (.badResponse(.createPermission), "the answer to CreatePermission lacks what it must have"),
  ])
  func `every failure is a sentence`(_ failure: TURNClient.Failure, wording: String) {
    #expect("\(failure)" == wording)
  }

  @Test(arguments: [
    (TURNClient.Misuse.notAllocated, "there is no allocation yet"),
    (.alreadyAllocated, "there is an allocation already"),
    (.familyMismatch, "the peer's address and the relayed address are not both IPv4, nor both IPv6"),
    (.payloadTooLarge, "the payload does not fit a datagram"),
  ])
  func `every mistake is a sentence`(_ misuse: TURNClient.Misuse, wording: String) { #expect("\(misuse)" == wording) }

  @Test(arguments: [
    (TURNServer.EndReason.released, "released", "the client gave it back"),
    (.expired, "expired", "it was not renewed in time"),
    (.restarted, "restarted", "the server restarted"),
    (.disconnected, "disconnected", "the client's connection ended"),
    (.unavailable, "unavailable", "no socket could be opened for it"),
  ])
  func `every end of a relay is a word in traces and a sentence`(
    _ reason: TURNServer.EndReason, word: String, wording: String
  ) {
    #expect(reason.rawValue == word)
    #expect("\(reason)" == wording)
  }

  @Test func `an error response is its code and its reason`() {
    #expect("\(STUNError.staleNonce)" == "438 Stale Nonce")
    #expect("\(STUNError(499, ""))" == "499")
  }
}
