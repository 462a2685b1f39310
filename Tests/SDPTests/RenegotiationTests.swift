import CallCore
import Foundation
import Testing

@testable import SDP

/// Where renegotiation goes wrong in the field, provoked: DTLS roles, rejected and recycled sections, rollback,
/// changing payload types, restarts.
struct RenegotiationTests {
  // MARK: DTLS roles

  @Test(arguments: [(SetupRole.actpass, SetupRole.active), (.passive, .active), (.active, .passive)])
  func `the answerer takes the role that fits the offer`(_ offered: SetupRole, _ expected: SetupRole) throws {
    var a = Side("A")
    var b = Side("B")
    try a.add(.audio, "mic")
    let offer = try a.offer().replacing("a=setup:actpass", with: "a=setup:\(offered)")
    try b.session.setRemoteDescription(.offer, offer)
    #expect(try b.answer().media[0].attributes.setup == expected)
    let setup = b.session.transport?.setup
    #expect(setup == expected)
  }

  @Test(arguments: [(SetupRole.actpass, SetupRole.passive), (.passive, .active), (.active, .passive)])
  func `an answerer told to be passive is so where the offer allows it`(
    _ offered: SetupRole, _ expected: SetupRole
  ) throws {
    var a = Side("A")
    var b = Side("B", answersPassively: true)
    try a.add(.audio, "mic")
    let offer = try a.offer().replacing("a=setup:actpass", with: "a=setup:\(offered)")
    try b.session.setRemoteDescription(.offer, offer)
    #expect(try b.answer().media[0].attributes.setup == expected)
  }

  @Test func `roles stay as they are whoever offers later`() throws {
    var call = try Call()
    try call.renegotiateFromB()
    try call.renegotiateFromA()
    try call.renegotiateFromB()
    let (a, b) = (call.a.session.transport?.setup, call.b.session.transport?.setup)
    #expect(a == .passive && b == .active)
  }

  @Test func `an answer that forgets the running roles changes nothing, with or without an ICE restart`() throws {
    // Who answered is the DTLS client. Its peer forgets that it is the server, as Firefox, GStreamer and Pion do.
    for restarts in [false, true] {
      var call = try Call()
      if restarts {
        try call.b.session.restartICE()
        call.b.renewCredentials()
      }
      let effects = try call.a.session.setRemoteDescription(.offer, try call.b.offer())
      if effects.isRemoteICERestart { call.a.renewCredentials() }
      let answer = try call.a.answer().replacing("a=setup:passive", with: "a=setup:active")
      try call.b.session.setRemoteDescription(.answer, answer)
      let (setup, state) = (call.b.session.transport?.setup, call.b.session.signalingState)
      #expect(setup == .active && state == .stable)
    }
  }

  @Test func `an offer that turns the running roles round is refused`() throws {
    var call = try Call()
    let offer = try call.a.offer().replacing("a=setup:actpass", with: "a=setup:active")
    #expect(throws: JSEPError.setupChanged) { try call.b.session.setRemoteDescription(.offer, offer) }
  }

  @Test func `a new certificate may bring a new role`() throws {
    var call = try Call()
    call.b.parameters.fingerprints = [Fingerprint(algorithm: "sha-256", digest: Array(1...32))]
    try call.b.session.setRemoteDescription(.offer, try call.a.offer())
    let answer = try call.b.answer().replacing("a=setup:active", with: "a=setup:passive")
    try call.a.session.setRemoteDescription(.answer, answer)
    let setup = call.a.session.transport?.setup
    #expect(setup == .active)
  }

  @Test func `an answer cannot leave the role open`() throws {
    var a = Side("A")
    var b = Side("B")
    try a.add(.audio, "mic")
    try b.session.setRemoteDescription(.offer, try a.offer())
    let answer = try b.answer().replacing("a=setup:active", with: "a=setup:actpass")
    #expect(throws: JSEPError.invalidSetup(.actpass)) { try a.session.setRemoteDescription(.answer, answer) }
  }

  // MARK: Sections

  @Test func `a stopped transceiver's section is rejected by both and then recycled under a new mid`() throws {
    var call = try Call()
    let audio = call.a.session.transceivers[0].id
    try call.a.session.stop(audio)
    let needed = call.a.session.negotiationNeeded
    #expect(needed)
    let offer = try call.a.offer()
    #expect(offer.media.map(\.port) == [0, 9] && offer.bundle == ["1"])
    let gone = try call.b.session.setRemoteDescription(.offer, offer)
    #expect(gone.tracksRemoved.count == 1)
    let answer = try call.b.answer()
    #expect(answer.media.map(\.port) == [0, 9] && answer.media.map(\.mid) == ["0", "1"])
    let effects = try call.a.session.setRemoteDescription(.answer, answer)
    #expect(effects.stopped == [audio])
    let left = (call.a.session.transceivers.count, call.b.session.transceivers.count)
    #expect(left == (1, 1))

    try call.a.add(.video, "screen")
    let second = try call.a.offer()
    #expect(second.media.map(\.type) == ["video", "video"] && second.media.map(\.mid) == ["2", "1"])
    #expect(second.bundle == ["1", "2"])
    try call.b.session.setRemoteDescription(.offer, second)
    try call.a.session.setRemoteDescription(.answer, try call.b.answer())
    let mids = call.a.session.media.map(\.mid)
    #expect(mids == ["2", "1"])
  }

  @Test func `the far side's refusal of a section stops its transceiver`() throws {
    var a = Side("A")
    var b = Side("B", video: [])
    try a.add(.audio, "mic")
    let camera = try a.add(.video, "camera")
    try b.session.setRemoteDescription(.offer, try a.offer())
    let effects = try a.session.setRemoteDescription(.answer, try b.answer())
    #expect(effects.stopped == [camera])
    let media = a.session.media.map(\.kind)
    #expect(media == [.audio])
  }

  @Test func `a data section of the far side keeps its place in our re-offers`() throws {
    var side = Side("B")
    try side.session.setRemoteDescription(.offer, try Recorded.chromiumOffer.parsed)
    _ = try side.answer()
    let offer = try side.session.createOffer(side.parameters)
    #expect(offer.media.map(\.type) == ["audio", "video", "application"])
    #expect(offer.media[2].port == 0 && offer.media[2].mid == "2")
  }

  @Test func `an offer must keep the sections of before in their order`() throws {
    var call = try Call()
    let offer = try call.a.offer()
    var swapped = offer
    swapped.media.swapAt(0, 1)
    var shortened = offer
    shortened.media.removeLast()
    shortened.attributes.set("group", "BUNDLE 0")
    #expect(throws: JSEPError.mLineMismatch(mLineIndex: 0)) {
      try call.b.session.setRemoteDescription(.offer, swapped)
    }
    #expect(throws: JSEPError.mLineMismatch(mLineIndex: 1)) {
      try call.b.session.setRemoteDescription(.offer, shortened)
    }
  }

  @Test func `an answer must have every section in the offer's order`() throws {
    var call = try Call()
    try call.b.session.setRemoteDescription(.offer, try call.a.offer())
    let answer = try call.b.answer()
    var shortened = answer
    shortened.media.removeLast()
    shortened.attributes.set("group", "BUNDLE 0")
    var swapped = answer
    swapped.media.swapAt(0, 1)
    for (wrong, index) in [(shortened, 1), (swapped, 0)] {
      #expect(throws: JSEPError.mLineMismatch(mLineIndex: index)) {
        try call.a.session.setRemoteDescription(.answer, wrong)
      }
    }
  }

  @Test func `a mid said twice is refused`() throws {
    var side = Side("B")
    let offer = try Recorded.chromiumOffer.parsed.replacing("a=mid:1", with: "a=mid:0")
    #expect(throws: JSEPError.duplicateMid("0")) { try side.session.setRemoteDescription(.offer, offer) }
  }

  @Test func `a BUNDLE group names sections there are, once, and only offered ones`() throws {
    var side = Side("B")
    let offer = try Recorded.chromiumOffer.parsed
    for (group, mid) in [("0 1 9", "9"), ("0 1 1", "1")] {
      let wrong = try offer.replacing("BUNDLE 0 1 2", with: "BUNDLE \(group)")
      #expect(throws: JSEPError.invalidBundleGroup(mid: mid)) {
        try side.session.setRemoteDescription(.offer, wrong)
      }
    }
  }

  @Test func `an answer that leaves an accepted section outside the bundle is refused`() throws {
    var call = try Call()
    try call.b.session.setRemoteDescription(.offer, try call.a.offer())
    let answer = try call.b.answer().replacing("BUNDLE 0 1", with: "BUNDLE 0")
    #expect(throws: JSEPError.notBundled(mLineIndex: 1)) { try call.a.session.setRemoteDescription(.answer, answer) }
  }

  @Test func `missing credentials and fingerprints are named by section`() throws {
    var side = Side("B")
    let offer = try Recorded.gstreamerOffer.parsed
    var open = offer
    for index in open.media.indices { open.media[index].attributes.removeAll("ice-pwd") }
    var bare = offer
    for index in bare.media.indices { bare.media[index].attributes.removeAll("fingerprint") }
    #expect(throws: JSEPError.missingICECredentials(mLineIndex: 0)) {
      try side.session.setRemoteDescription(.offer, open)
    }
    #expect(throws: JSEPError.missingFingerprint(mLineIndex: 0)) {
      try side.session.setRemoteDescription(.offer, bare)
    }
  }

  @Test(arguments: ["sha-256 AA:BB", "sha-999 AA:BB", "md5 AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA"])
  func `a fingerprint that nothing can be compared with is as good as none`(value: String) throws {
    var side = Side("B")
    var offer = try Recorded.gstreamerOffer.parsed
    for index in offer.media.indices {
      offer.media[index].attributes.removeAll("fingerprint")
      offer.media[index].attributes.append("fingerprint", value)
    }
    #expect(throws: JSEPError.unusableFingerprint(mLineIndex: 0)) {
      try side.session.setRemoteDescription(.offer, offer)
    }
    #expect(side.session.signalingState == .stable)
  }

  @Test func `candidates that are told again and again are kept once, and not without end`() throws {
    var call = try Call()
    let count = { (side: borrowing Side) in
      side.session.remoteDescription?.media[0].attributes.values("candidate").count ?? 0
    }
    let before = count(call.b)
    for number in 0..<3_000 as Range<Int> {
      for _ in 0..<2 {
        try call.b.session.addRemoteCandidate("candidate:1 1 udp 1 192.0.2.1 \(number + 1) typ host", mid: "0")
      }
      if number == 4 { #expect(count(call.b) == before + 5) }
    }
    #expect(count(call.b) < 1_000)
  }

  // MARK: Payload types

  @Test func `one number with two meanings in a bundle is refused`() throws {
    var side = Side("B")
    let offer = try Recorded.gstreamerOffer.parsed.replacing("SAVPF 97", with: "SAVPF 96")
      .replacing("a=rtpmap:97", with: "a=rtpmap:96").replacing("a=rtcp-fb:97", with: "a=rtcp-fb:96")
    #expect(throws: JSEPError.payloadTypeConflict(96)) { try side.session.setRemoteDescription(.offer, offer) }
  }

  @Test func `one extension identifier with two meanings in a bundle is refused`() throws {
    var side = Side("B")
    let offer = try Recorded.chromiumOffer.parsed.replacing("a=extmap:14 ", with: "a=extmap:1 ")
    #expect(throws: JSEPError.extensionConflict(id: 1)) { try side.session.setRemoteDescription(.offer, offer) }
  }

  @Test func `a re-offer keeps the numbers the far side chose and gives new codecs free ones`() throws {
    // The far side has Opus on 96, the number we would give VP8.
    var far = CodecCapability.opus
    far.preferredPayloadType = 96
    var a = Side("A")
    var b = Side("B", audio: [far])
    try b.add(.audio, "mic")
    try a.add(.audio, "mic")
    try negotiate(&b, &a)
    try a.add(.video, "camera")
    let offer = try a.offer()
    #expect(offer.media[0].formats == ["96"])
    let numbers = offer.media[1].codecs.map(\.payloadType)
    #expect(numbers.count == 2 && !numbers.contains(96))
    try b.session.setRemoteDescription(.offer, offer)
    try a.session.setRemoteDescription(.answer, try b.answer())
    let sent = a.session.media.map { $0.sendCodecs[0].payloadType }
    #expect(sent == [96, numbers[0]])
  }

  @Test func `an answer with its own numbers is sent its numbers, and we keep receiving ours`() throws {
    var a = Side("A")
    var b = Side("B")
    try a.add(.audio, "mic")
    try b.add(.audio, "mic")
    try b.session.setRemoteDescription(.offer, try a.offer())
    let text = try b.answer().text.replacingOccurrences(of: "SAVPF 111", with: "SAVPF 120")
      .replacingOccurrences(of: "rtpmap:111", with: "rtpmap:120").replacingOccurrences(of: "fmtp:111", with: "fmtp:120")
    try a.session.setRemoteDescription(.answer, SessionDescription(parsing: text))
    let media = a.session.media[0]
    #expect(media.sendCodecs[0].payloadType == 120 && media.receiveCodecs[0].payloadType == 111)
    #expect(try a.offer().media[0].formats == ["111"])
  }

  @Test func `a far side that renumbers its codecs is followed`() throws {
    var call = try Call()
    let text = try call.b.offer().text.replacingOccurrences(of: "SAVPF 111", with: "SAVPF 100")
      .replacingOccurrences(of: "rtpmap:111", with: "rtpmap:100").replacingOccurrences(of: "fmtp:111", with: "fmtp:100")
    try call.a.session.setRemoteDescription(.offer, SessionDescription(parsing: text))
    let answer = try call.a.answer()
    #expect(answer.media[0].formats == ["100"])
    #expect(try call.a.offer().media[0].formats == ["100"])
  }

  // MARK: Rollback and glare

  @Test func `rolling back our offer leaves no mid behind and the next offer is the same`() throws {
    var side = Side("A")
    try side.add(.audio, "mic")
    let first = try side.offer()
    try side.session.rollback()
    let session = (side.session.transceivers[0].mid, side.session.transceivers[0].mLineIndex)
    #expect(session == (nil, nil))
    let descriptions = (side.session.localDescription, side.session.negotiationNeeded)
    #expect(descriptions.0 == nil && descriptions.1)
    #expect(try side.offer().media == first.media)
  }

  @Test func `rolling back their offer removes what it made and restores what it changed`() throws {
    var call = try Call()
    let before = (call.b.session.transceivers, call.b.session.media, call.b.session.transport)
    let audio = call.a.session.transceivers[0].id
    try call.a.session.setDirection(.inactive, of: audio)
    try call.a.add(.video, "screen")
    call.a.renewCredentials()
    let effects = try call.b.session.setRemoteDescription(.offer, try call.a.offer())
    #expect(effects.isRemoteICERestart)
    #expect(effects.tracksAdded.count == 1 && effects.tracksRemoved.count == 1)
    let undone = try call.b.session.rollback()
    #expect(undone.tracksAdded == effects.tracksRemoved && undone.tracksRemoved == effects.tracksAdded)
    let after = (call.b.session.transceivers, call.b.session.media, call.b.session.transport)
    #expect(before.0 == after.0 && before.1 == after.1 && before.2 == after.2)
    let remote = call.b.session.remoteDescription == call.b.session.currentRemoteDescription
    #expect(remote)
    // And the call goes on.
    try call.a.session.rollback()
    try call.renegotiateFromA()
  }

  @Test func `a transceiver of a rolled-back offer stays when a track was put on it`() throws {
    var a = Side("A")
    var b = Side("B")
    try a.add(.audio, "mic")
    try b.session.setRemoteDescription(.offer, try a.offer())
    let id = try b.add(.audio, "mic")
    try b.session.rollback()
    let transceivers = b.session.transceivers
    #expect(transceivers.map(\.id) == [id] && transceivers[0].mid == nil)
  }

  @Test func `glare ends with the polite side rolling back, answering and offering again`() throws {
    var polite = Side("P")
    var impolite = Side("I")
    try polite.add(.audio, "p-mic")
    try polite.add(.video, "p-camera")
    try impolite.add(.audio, "i-mic")
    _ = try polite.offer()
    let winner = try impolite.offer()
    #expect(throws: JSEPError.wrongState(.haveLocalOffer)) {
      try polite.session.setRemoteDescription(.offer, winner)
    }
    try polite.session.rollback()
    try polite.session.setRemoteDescription(.offer, winner)
    try impolite.session.setRemoteDescription(.answer, try polite.answer())
    let needed = polite.session.negotiationNeeded
    #expect(needed)
    try negotiate(&polite, &impolite)
    let (one, other) = (polite.session.media.map(\.mid), impolite.session.media.map(\.mid))
    #expect(one == ["0", "1"] && other == one)
    let still = (polite.session.negotiationNeeded, impolite.session.negotiationNeeded)
    #expect(still == (false, false))
  }

  @Test func `an offer replaces the one before it`() throws {
    var a = Side("A")
    var b = Side("B")
    try a.add(.audio, "mic")
    let first = try b.session.setRemoteDescription(.offer, try a.offer())
    try a.add(.video, "camera")
    let second = try b.session.setRemoteDescription(.offer, try a.offer())
    #expect(second.tracksRemoved == first.tracksAdded && second.tracksAdded.count == 2)
    try a.session.setRemoteDescription(.answer, try b.answer())
    let kinds = a.session.media.map(\.kind)
    #expect(kinds == [.audio, .video])
  }

  @Test func `a transceiver that has sent is not taken for another track`() throws {
    var call = try Call()
    let used = call.a.session.transceivers[0].id
    try call.a.session.removeTrack(used)
    let new = try call.a.add(.audio, "second")
    #expect(new != used)
  }

  // MARK: ICE restart

  @Test func `a restart needs new credentials from both sides`() throws {
    var call = try Call()
    try call.a.session.restartICE()
    let needed = call.a.session.negotiationNeeded
    #expect(needed)
    #expect(throws: JSEPError.credentialsUnchanged) { try call.a.session.createOffer(call.a.parameters) }
    call.a.renewCredentials()
    let effects = try call.b.session.setRemoteDescription(.offer, try call.a.offer())
    #expect(effects.isRemoteICERestart)
    #expect(throws: JSEPError.credentialsUnchanged) { try call.b.session.createAnswer(call.b.parameters) }
    call.b.renewCredentials()
    let answered = try call.a.session.setRemoteDescription(.answer, try call.b.answer())
    #expect(answered.isRemoteICERestart)
    let after = (call.a.session.negotiationNeeded, call.a.session.transport?.remote.usernameFragment)
    #expect(after == (false, "fragB1"))
  }

  @Test func `credentials cannot change in an answer to no restart`() throws {
    var call = try Call()
    let effects = try call.b.session.setRemoteDescription(.offer, try call.a.offer())
    #expect(!effects.isRemoteICERestart)
    call.b.renewCredentials()
    #expect(throws: JSEPError.credentialsChanged) { try call.b.session.createAnswer(call.b.parameters) }
  }

  @Test func `a restart that was rolled back is still wanted`() throws {
    var call = try Call()
    try call.a.session.restartICE()
    call.a.renewCredentials()
    _ = try call.a.offer()
    try call.a.session.rollback()
    let needed = call.a.session.negotiationNeeded
    #expect(needed)
  }
}

/// Candidates that arrive before, with and after what they belong to.
struct TrickleTests {
  private let candidate = "candidate:1 1 udp 2130706431 192.0.2.1 5000 typ host"

  @Test func `a candidate before the description is refused, and the session lives on`() throws {
    var a = Side("A")
    var b = Side("B")
    try a.add(.audio, "mic")
    #expect(throws: JSEPError.noRemoteDescription) { try b.session.addRemoteCandidate(candidate, mid: "0") }
    try b.session.setRemoteDescription(.offer, try a.offer())
    let isUsed = try b.session.addRemoteCandidate(candidate, mid: "0", usernameFragment: "fragA0")
    #expect(isUsed)
    _ = try b.answer()
    let transport = b.session.transport
    #expect(transport?.remote.candidates == ["1 1 udp 2130706431 192.0.2.1 5000 typ host"])
  }

  @Test func `candidates go to the generation they name`() throws {
    var call = try Call()
    call.a.renewCredentials()
    try call.b.session.setRemoteDescription(.offer, try call.a.offer())
    try call.b.session.addRemoteCandidate(candidate + " ufrag fragA0", mid: "0")
    try call.b.session.addRemoteCandidate(candidate + " ufrag fragA1", mid: "0")
    #expect(throws: JSEPError.unknownUsernameFragment) {
      try call.b.session.addRemoteCandidate(candidate, mid: "0", usernameFragment: "fragA7")
    }
    let old = call.b.session.currentRemoteDescription?.media[0].attributes.candidates.count
    let new = call.b.session.pendingRemoteDescription?.media[0].attributes.candidates.count
    #expect(old == 1 && new == 1)
    call.b.renewCredentials()
    _ = try call.b.answer()
    #expect(throws: JSEPError.unknownUsernameFragment) {
      try call.b.session.addRemoteCandidate(candidate, mid: "0", usernameFragment: "fragA0")
    }
  }

  @Test func `candidates of sections whose transport is not used are told apart`() throws {
    var call = try Call()
    let first = try call.b.session.addRemoteCandidate(candidate, mid: "0")
    let second = try call.b.session.addRemoteCandidate(candidate, mLineIndex: 1)
    #expect(first && !second)
    try call.b.session.setRemoteDescription(.offer, try call.a.offer())
    let pending = try call.b.session.addRemoteCandidate(candidate, mid: "1")
    #expect(!pending)
    #expect(throws: JSEPError.unknownSection) { try call.b.session.addRemoteCandidate(candidate, mid: "9") }
    #expect(throws: JSEPError.unknownSection) { try call.b.session.addRemoteCandidate(candidate, mLineIndex: 5) }
    #expect(throws: JSEPError.unknownSection) { try call.b.session.addRemoteCandidate(candidate, mLineIndex: -1) }
  }

  @Test func `the default candidate stands in the lines that peers without ICE read`() throws {
    var side = Side("A")
    try side.add(.audio, "mic")
    try side.add(.video, "camera")
    _ = try side.offer()
    for (endpoint, type) in [("192.0.2.1:5000", "IP4"), ("[2001:db8::1]:6000", "IP6")] {
      let endpoint = try #require(Endpoint(endpoint))
      try side.session.addLocalCandidate(
        "1 1 udp 1 \(endpoint.address) \(endpoint.port) typ host", defaultEndpoint: endpoint)
      let media = try #require(side.session.localDescription?.media)
      // The second section waits for the bundle: its port of zero says so.
      #expect(media.map(\.port) == [endpoint.port, 0])
      #expect(media[0].lines == [Line("c", "IN \(type) \(endpoint.address)")])
    }
  }

  @Test func `what is gathered after an offer stands in our description once`() throws {
    var side = Side("A")
    try side.add(.audio, "mic")
    _ = try side.offer()
    try side.session.addLocalCandidate(candidate)
    try side.session.addLocalCandidate(candidate)
    try side.session.endLocalCandidates()
    let attributes = try #require(side.session.localDescription?.media[0].attributes)
    #expect(attributes.candidates.count == 1 && attributes.contains("end-of-candidates"))
  }
}
