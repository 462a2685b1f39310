// A test that passes proves little until it was seen to fail. Builds for tests therefore know a defect for each bug
// pattern that other stacks were struck by (docs/bug-patterns.md): the stack asks, on the very line where the defect
// would live, whether it is planted, and a test shows that it would find it.
#if PLANTED_DEFECTS
  /// A defect that can be planted. Each begins with the number of its pattern, and ends with where it was seen.
  package enum Defect: CaseIterable, Sendable {
    // MARK: ICE and mobility

    /// 1: a 487 to a check of a role that was already given up turns the role round again (str0m is-0.9.0).
    case staleRoleConflictObeyed
    /// 1: a check of the same role is answered as if nothing were wrong, and both go on to control (str0m is-0.9.0).
    case roleConflictIgnored
    /// 2: pairs with an address that only checks have shown are never nominated (str0m#485).
    case onlySignalledPairsNominated
    /// 3: a pair that is learnt late goes to the end of the list, whatever its priority (pjproject#2806).
    case latePairAppended
    /// 3: an address that a check has shown hides the candidate that signalling brings for it (libjuice#173).
    case reflexiveHidesSignalled
    /// 4: the controlled side drops the nomination of a pair whose mapped address is not its base (librice#169).
    case mappedNominationDropped
    /// 5: a server-reflexive candidate that is withdrawn takes its host candidate with it (str0m#525).
    case unusedCandidateWithdrawn
    /// 5: a candidate that was withdrawn once is taken for known when it comes back (str0m#507).
    case withdrawnCandidateNotReadded
    /// 6: the controlled side stays with the first nominated pair although a better one is nominated (pion/ice#28).
    case firstNominationKept
    /// 6: an ICE-lite peer gets USE-CANDIDATE on every pair (pjproject#2033, aiortc#277).
    case liteNominatedAggressively
    /// 7: once a pair is selected the peer's nomination of another is ignored (team-telnyx/freeswitch#623).
    case nominationIgnoredOnceConnected
    /// 8: without an end of candidates checking never ends (ice4j#280, pion/ice#35, str0m#416).
    case endOfCandidatesAwaited
    /// 9: when all own checks end in errors the agent fails, though the peer may yet reach it (pjproject#5031).
    case failedByOwnChecks
    /// 9: a checklist without a pair that is left to try is taken for complete, whatever the peer may yet send
    /// (rawrtc#64).
    case failedBeforeCandidatesCame
    /// 10: a candidate that comes before the description it belongs to is dropped (pion/webrtc#1029, webrtc-pc#2519).
    case earlyCandidateDropped
    /// 11: nobody looks at which generation a candidate belongs to (webrtc-pc#811, jitsi-videobridge#2438).
    case retiredCandidateAccepted
    /// 11: the offer of a restart ends the pairs that carry media, and nothing is sent until it is answered
    /// (elixir-webrtc/ex_ice#30).
    case restartEndsOldPairs
    /// 12: after a restart checks still go out with the peer's old credentials (janus-gateway#2672).
    case restartKeepsOldCredentials
    /// 12: checks that come before the answer to a restart are not answered (ortc#170).
    case earlyCheckUnanswered
    /// 13: rolling back the offer of a restart leaves its new credentials in force (twilio-video.js#277,
    /// webrtc-pc#2367).
    case rolledBackRestartStands
    /// 14: a restart gathers on the sockets of before, though the device has others now (webrtc-rs/webrtc#868).
    case restartReusesDeadSockets
    /// 15: the next consent check waits for the answer to the last one (werift-webrtc#649).
    case consentStopsAtLostReply
    /// 15: consent ends 30 s after the last request instead of after the last valid response (werift-webrtc#649).
    case consentRunsFromRequest
    /// 16: checks that fell due during a suspension all leave in one burst (webrtc-rtptransport#105,
    /// str0m stale-network-time-after-pause).
    case overdueChecksSentAtOnce
    /// 16: nobody looks whether consent has run out during a suspension before something is sent, or an answer that waited
    /// renews it (RFC 7675 section 5.1).
    case consentOutlivesSuspension
    /// 17: selecting a pair throws the others away (webrtc-pc#2791).
    case backupPairsPruned
    /// 17: where no media comes the pair in use counts as silent, though its checks are answered
    /// (jitsi-videobridge#970).
    case answersCountForNothing
    /// 17: candidates are gathered once in the life of a connection (owt-client-native#136, ortc#176).
    case restartGathersNothing
    /// 18: a check from another port of a known address is taken for one from the known port (pjproject#372,
    /// pjproject#742).
    case mappedPortNotFollowed
    /// 19: no relay is asked for when there is a STUN server (bigbluebutton#8886).
    case relayNotGatheredBesideReflexive
    /// 20: a candidate with a name instead of an address is refused as malformed (sipsorcery#1608, janus-gateway#1692).
    case unresolvedNameFatal
    /// 20: the address that a name resolves to is dropped when it comes after the end of candidates (janus-gateway#1692).
    case lateNameDropped
    /// 21: a lite agent gives up pairs that are checked as rarely as a stable call needs (str0m#832).
    case idleLitePairsPurged
    /// 21: the limit on pairs drops the best of them (str0m flappy-ice-state).
    case pairLimitDropsBest

    // MARK: TURN

    /// 22: 438 to a Refresh is taken for a refusal (pion/turn#102, aioice#28).
    case staleNonceFailsRefresh
    /// 22: 438 to a CreatePermission is taken for a refusal (pion/turn#481).
    case staleNonceFailsPermission
    /// 22: 438 to a ChannelBind is taken for a refusal (pjproject#888).
    case staleNonceFailsChannel
    /// 23: permissions are renewed at 10/9 of their lifetime (rusturn#11).
    case permissionRefreshedTooLate
    /// 23: channels are renewed at 10/9 of their lifetime (aioice#29, rusturn#11).
    case channelRefreshedTooLate
    /// 24: a channel's number is given to another peer as soon as its own is gone (firezone#6276).
    case channelReboundInCoolDown
    /// 25: after 437 the allocation is asked for from the same address again (coturn#1138, webrtc-rs/webrtc#835).
    case mismatchRetriedFromSameAddress
    /// 26: the server answers a retransmitted Allocate with 437 (webrtc-rs/webrtc#893).
    case repeatedAllocateRefused
    /// 26: the client goes on with an allocation that the server says it does not know (pion/turn#144, coturn#2067).
    case lostAllocationKept

    // MARK: DTLS

    /// 27: flights are repeated after 1 s whatever the path's round trip (libdatachannel#1635).
    case handshakeTimerIgnoresRoundTrip
    /// 27: a flight is repeated once, and then never again (str0m#943).
    case flightRepeatedOnce
    /// 28: a server that considers the handshake finished ignores the client's repeated flight (licode#1887).
    case lastFlightNotRepeated
    /// 29: of a ClientHello in two datagrams that comes early only the first is kept (freeswitch#903, ex_dtls#31).
    case earlyFragmentDropped
    /// 30: the DTLS role follows who offered and not a=setup (diago#174).
    case advertisedRoleNotActed
    /// 30: a later offer is answered as if no association were running (pion/webrtc#3552).
    case roleForgottenInRenegotiation
    /// 31: a ClientHello that comes before the answer is dropped (ortc#318, rtpengine#2145).
    case earlyHelloDropped

    // MARK: SRTP, RTP and playout

    /// 32: sequence numbers start anywhere, also just before they wrap (libsrtp#729, libsrtp#725).
    case firstSequenceAnywhere
    /// 32: a number from before the wrap that is sent again after it is taken for one of the next round (libre#6,
    /// libsrtp#567).
    case oldNumberUnderNewRollover
    /// 33: another selected pair starts the DTLS client's SRTP afresh (pjproject#5269, sipsorcery#1584).
    case rolloverForgottenOnPathChange
    /// 33: a hold ends the stream, and after it the numbers begin anew under the same keys (pjproject#1075).
    case heldStreamStartsAfresh
    /// 34: sequence numbers are taken in before the packet is authenticated (str0m#528).
    case receptionCountedBeforeAuthentication
    /// 35: every number of a gap is asked for, however large it is (janus-gateway#150, rustrtc#33).
    case hugeGapRequested
    /// 35: what was asked for is asked for again before the answer can have come (pion/interceptor#208, str0m#744).
    case nackFasterThanRoundTrip
    /// 35: what is asked for again leaves at once, however much it is (mediasoup#1934).
    case retransmissionsUnpaced
    /// 37: a packet that comes after others behind it was told of as missing, and is told of no more (mediasoup#1059).
    case lateArrivalNotTold
    /// 37: a packet that feedback told of as missing is lost, whatever later feedback says (mediasoup#1059).
    case missingIsLostForEver
    /// 37: the numbers of feedback are not extended over their wrap (str0m#717).
    case feedbackNumbersNotExtended
    /// 37: a time between two arrivals that no delta can say is cut off instead of beginning another feedback
    /// (janus-gateway#1757).
    case feedbackDeltaOverflows
    /// 39: playout runs at the device's rate and never at the sender's (livekit/media-sdk#29).
    case driftNotFollowed
    /// 39: a jump of numbers or timestamps is waited out (werift-webrtc#654).
    case jumpNotFollowed
    /// 39: the duration of the first packets is taken for that of all (pjproject#2215).
    case packetDurationFixed
    /// 40: a sender report that comes out of order replaces a newer one (werift-webrtc#701, mediasoup#1881).
    case staleSenderReportBelieved
    /// 42: a section hears only the first source that was bound to it by its payload type (str0m#522).
    case changedSourceDropped
    /// 42: the payload type is asked for the section of a source, and not the MID that its packets carry (srs#4722).
    case midNotLookedAt
    /// 42: a RID without a MID goes to the first section that has an encoding of that name (mediasoup#1666).
    case encodingNameOfAnySection
    /// 43: the messages of a flight are merged into datagrams that stay as large, whatever the path takes (webrtc-rs/rtc#180,
    /// rtpengine#1261).
    case handshakeIgnoresPathMTU

    // MARK: SDP

    /// 44: a rejected section is left out of the answer (webrtc-rs/rtc#66).
    case rejectedSectionOmitted
    /// 44: a later offer lists the sections in the order of one's own transceivers (pion/webrtc#1054,
    /// pion/webrtc#1714).
    case sectionsInOwnOrder
    /// 44: a new section gets a mid that the far side has already used (str0m#941).
    case takenMidGivenOut
    /// 45: a rollback leaves the association of transceivers and sections as the offer had it (webrtc-pc#463,
    /// pion/webrtc#2133).
    case rollbackKeepsMid
    /// 45: a transceiver that a remote offer made outlives that offer's rollback (stream-video-js#2344).
    case rollbackKeepsTransceivers
    /// 46: a later offer numbers the codecs afresh (str0m#730, str0m#734).
    case payloadTypeRemapped

    /// The defect planted for the task of the test that runs; tests beside it never see it.
    @TaskLocal package static var planted: Defect?

    package var isPlanted: Bool { Self.planted == self }
  }
#else
  /// What is left of planted defects in a build for use: a question that is answered before the program runs.
  ///
  /// It is public because only public functions are inlined into other modules. Any name will do: those of the defects
  /// are checked in builds for tests, and none of them is to be found in the program.
  @dynamicMemberLookup
  public struct Defect {
    @inlinable init() {}

    @inlinable public static subscript(dynamicMember name: StaticString) -> Defect { Defect() }

    @inlinable public var isPlanted: Bool { false }
  }
#endif
