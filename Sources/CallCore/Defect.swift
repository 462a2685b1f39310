// A test proves little until it has failed once. Test builds therefore contain a defect for each bug pattern found in
// other stacks (docs/bug-patterns.md), and for each class of defects of call state machines (docs/defect-classes.md):
// the stack or the app checks, on the line of the defect, whether it is planted, and a test shows that it detects it.
#if PLANTED_DEFECTS
  /// A defect that can be planted. Each comment begins with the number of the pattern or of the class of defects
  /// (docs/defect-classes.md), and ends with its sources.
  package enum Defect: CaseIterable, Sendable {
    // MARK: ICE and mobility

    /// 1: a 487 to a check with a role that was already given up reverses the role again (str0m is-0.9.0).
    case staleRoleConflictObeyed
    /// 1: a check with the same role is answered normally, and both sides stay controlling (str0m is-0.9.0).
    case roleConflictIgnored
    /// 2: pairs with a peer-reflexive address are never nominated (str0m#485).
    case onlySignalledPairsNominated
    /// 3: a pair that is learnt late is appended to the list, regardless of its priority (pjproject#2806).
    case latePairAppended
    /// 3: a peer-reflexive address hides the signalled candidate with the same address (libjuice#173).
    case reflexiveHidesSignalled
    /// 4: the controlled side drops the nomination of a pair whose mapped address is not its base (librice#169).
    case mappedNominationDropped
    /// 5: withdrawing a server-reflexive candidate withdraws its host candidate too (str0m#525).
    case unusedCandidateWithdrawn
    /// 5: a candidate that returns after its withdrawal is treated as known (str0m#507).
    case withdrawnCandidateNotReadded
    /// 6: the controlled side keeps the first nominated pair although a better one is nominated (pion/ice#28).
    case firstNominationKept
    /// 6: an ICE-lite peer gets USE-CANDIDATE on every pair (pjproject#2033, aiortc#277).
    case liteNominatedAggressively
    /// 7: after the selection of a pair the peer's nomination of another is ignored (team-telnyx/freeswitch#623).
    case nominationIgnoredOnceConnected
    /// 8: without an end of candidates checking never ends (ice4j#280, pion/ice#35, str0m#416).
    case endOfCandidatesAwaited
    /// 9: the agent fails when all its own checks have failed, though the peer may still reach it (pjproject#5031).
    case failedByOwnChecks
    /// 9: a checklist without remaining pairs counts as complete, although the peer may still send candidates
    /// (rawrtc#64).
    case failedBeforeCandidatesCame
    /// 10: a candidate that arrives before its description is dropped (pion/webrtc#1029, webrtc-pc#2519).
    case earlyCandidateDropped
    /// 11: the generation of a candidate is not checked (webrtc-pc#811, jitsi-videobridge#2438).
    case retiredCandidateAccepted
    /// 11: the offer of a restart ends the pairs that carry media, and nothing is sent until the answer
    /// (elixir-webrtc/ex_ice#30).
    case restartEndsOldPairs
    /// 12: after a restart checks still use the peer's old credentials (janus-gateway#2672).
    case restartKeepsOldCredentials
    /// 12: checks that arrive before the answer to a restart are not answered (ortc#170).
    case earlyCheckUnanswered
    /// 13: rolling back the offer of a restart leaves its new credentials in force (twilio-video.js#277,
    /// webrtc-pc#2367).
    case rolledBackRestartStands
    /// 14: a restart gathers on the old sockets, though the device's addresses have changed (webrtc-rs/webrtc#868).
    case restartReusesDeadSockets
    /// 15: the next consent check waits for the response to the last one (werift-webrtc#649).
    case consentStopsAtLostReply
    /// 15: consent ends 30 s after the last request instead of after the last valid response (werift-webrtc#649).
    case consentRunsFromRequest
    /// 16: checks that fell due during a suspension all leave in one burst (webrtc-rtptransport#105, str0m
    /// stale-network-time-after-pause).
    case overdueChecksSentAtOnce
    /// 16: expiry of consent during a suspension is not checked before a packet is sent, or a queued response renews it
    /// (RFC 7675 section 5.1).
    case consentOutlivesSuspension
    /// 17: the selection of a pair discards the others (webrtc-pc#2791).
    case backupPairsPruned
    /// 17: a pair in use without received media counts as silent, though its checks are answered
    /// (jitsi-videobridge#970).
    case answersCountForNothing
    /// 17: candidates are gathered once in the lifetime of a connection (owt-client-native#136, ortc#176).
    case restartGathersNothing
    /// 18: a check from another port of a known address is attributed to the known port (pjproject#372, pjproject#742).
    case mappedPortNotFollowed
    /// 19: no relay is requested if there is a STUN server (bigbluebutton#8886).
    case relayNotGatheredBesideReflexive
    /// 20: a candidate with a name instead of an address is refused as malformed (sipsorcery#1608, janus-gateway#1692).
    case unresolvedNameFatal
    /// 20: the address of a resolved name is dropped if it arrives after the end of candidates (janus-gateway#1692).
    case lateNameDropped
    /// 21: a lite agent removes pairs that are checked as rarely as a stable call requires (str0m#832).
    case idleLitePairsPurged
    /// 21: the limit on pairs drops the best of them (str0m flappy-ice-state).
    case pairLimitDropsBest

    // MARK: TURN

    /// 22: 438 to a Refresh is treated as a refusal (pion/turn#102, aioice#28).
    case staleNonceFailsRefresh
    /// 22: 438 to a CreatePermission is treated as a refusal (pion/turn#481).
    case staleNonceFailsPermission
    /// 22: 438 to a ChannelBind is treated as a refusal (pjproject#888).
    case staleNonceFailsChannel
    /// 23: permissions are renewed at 10/9 of their lifetime (rusturn#11).
    case permissionRefreshedTooLate
    /// 23: channels are renewed at 10/9 of their lifetime (aioice#29, rusturn#11).
    case channelRefreshedTooLate
    /// 24: a channel's number is reused for another peer immediately after its expiry (firezone#6276).
    case channelReboundInCoolDown
    /// 25: after 437 the allocation is requested again from the same address (coturn#1138, webrtc-rs/webrtc#835).
    case mismatchRetriedFromSameAddress
    /// 26: the server answers a retransmitted Allocate with 437 (webrtc-rs/webrtc#893).
    case repeatedAllocateRefused
    /// 26: the client keeps an allocation that the server reports as unknown (pion/turn#144, coturn#2067).
    case lostAllocationKept

    // MARK: DTLS

    /// 27: flights are repeated after 1 s regardless of the path's round-trip time (libdatachannel#1635).
    case handshakeTimerIgnoresRoundTrip
    /// 27: a flight is repeated only once (str0m#943).
    case flightRepeatedOnce
    /// 28: a server that considers the handshake finished ignores the client's repeated flight (licode#1887).
    case lastFlightNotRepeated
    /// 29: of an early ClientHello in two datagrams only the first is kept (freeswitch#903, ex_dtls#31).
    case earlyFragmentDropped
    /// 30: the DTLS role depends on the offerer and not on a=setup (diago#174).
    case advertisedRoleNotActed
    /// 30: a later offer is answered as if no association were running (pion/webrtc#3552).
    case roleForgottenInRenegotiation
    /// 31: a ClientHello that arrives before the answer is dropped (ortc#318, rtpengine#2145).
    case earlyHelloDropped

    // MARK: SRTP, RTP and playout

    /// 32: sequence numbers start anywhere, even just before they wrap (libsrtp#729, libsrtp#725).
    case firstSequenceAnywhere
    /// 32: a packet from before the wrap that is retransmitted after it is assigned to the next rollover (libre#6,
    /// libsrtp#567).
    case oldNumberUnderNewRollover
    /// 33: the selection of another pair restarts the DTLS client's SRTP (pjproject#5269, sipsorcery#1584).
    case rolloverForgottenOnPathChange
    /// 33: a hold ends the stream, and afterwards the numbers restart under the same keys (pjproject#1075).
    case heldStreamStartsAfresh
    /// 34: sequence numbers are recorded before the packet is authenticated (str0m#528).
    case receptionCountedBeforeAuthentication
    /// 35: every number of a gap is requested, regardless of its size (janus-gateway#150, rustrtc#33).
    case hugeGapRequested
    /// 35: a packet is requested again before it can have arrived (pion/interceptor#208, str0m#744).
    case nackFasterThanRoundTrip
    /// 35: retransmissions are sent at once, regardless of their amount (mediasoup#1934).
    case retransmissionsUnpaced
    /// 36: a key frame is asked for again before the last request can have been answered (jitsi-videobridge#2448,
    /// mediasoup#232).
    case keyFrameRequestedAtOnce
    /// 37: a packet that arrives after it was reported as missing is never reported as received (mediasoup#1059).
    case lateArrivalNotTold
    /// 37: a packet that feedback reported as missing stays lost, regardless of later feedback (mediasoup#1059).
    case missingIsLostForEver
    /// 37: the numbers of feedback are not extended over their wrap (str0m#717).
    case feedbackNumbersNotExtended
    /// 37: an arrival interval too long for a delta is truncated instead of starting another feedback packet
    /// (janus-gateway#1757).
    case feedbackDeltaOverflows
    /// 38: after heavy loss the estimate never rises again (mediasoup#1031).
    case estimateNeverRecovers
    /// 39: playout always runs at the device's rate and never adapts to the sender's (livekit/media-sdk#29).
    case driftNotFollowed
    /// 39: a jump of sequence numbers or timestamps is waited out (werift-webrtc#654).
    case jumpNotFollowed
    /// 39: the duration of the first packets is assumed for all (pjproject#2215).
    case packetDurationFixed
    /// 40: a sender report that arrives out of order replaces a newer one (werift-webrtc#701, mediasoup#1881).
    case staleSenderReportBelieved
    /// 41: picture identifiers are not extended over their wrap (mediasoup#140, janus-gateway#3121).
    case pictureIDsNotExtended
    /// 42: a section receives only the first source that was bound to it by its payload type (str0m#522).
    case changedSourceDropped
    /// 42: the section of a source is found by the payload type, and not by the MID of its packets (srs#4722).
    case midNotLookedAt
    /// 42: a RID without a MID is assigned to the first section that has an encoding of that name (mediasoup#1666).
    case encodingNameOfAnySection
    /// 42: a report on a stream ends the MID of the one that retransmits it, which was never heard of (str0m#938).
    case repairMIDEndsWithMedia
    /// 43: the messages of a flight are merged into datagrams of a fixed size, regardless of the path MTU
    /// (webrtc-rs/rtc#180, rtpengine#1261).
    case handshakeIgnoresPathMTU
    /// 43: packets of SCTP fill IPv6's 1280 bytes but for IPv6 and UDP, as if there were neither TURN nor DTLS
    /// (webrtc-rs/rtc#180).
    case dataOverheadForgotten

    // MARK: SDP

    /// 44: a rejected section is left out of the answer (webrtc-rs/rtc#66).
    case rejectedSectionOmitted
    /// 44: a later offer lists the sections in the order of the local transceivers (pion/webrtc#1054,
    /// pion/webrtc#1714).
    case sectionsInOwnOrder
    /// 44: a new section gets a mid that the remote side has already used (str0m#941).
    case takenMidGivenOut
    /// 45: a rollback keeps the offer's association of transceivers and sections (webrtc-pc#463, pion/webrtc#2133).
    case rollbackKeepsMid
    /// 45: a transceiver that a remote offer created survives that offer's rollback (stream-video-js#2344).
    case rollbackKeepsTransceivers
    /// 46: a later offer renumbers the codecs (str0m#730, str0m#734).
    case payloadTypeRemapped

    // MARK: Classes of state machine defects

    /// class 1: a ringing callee obeys an answer from its caller, and picks up (Signal for Android, CVE-2019-17191).
    case callersAnswerObeyed
    /// class 2: a ringing callee withholds the candidates of messages, and not those in the offer or ahead of it; its
    /// microphone opens when ICE connects (JioChat 2020, Mocha 2020).
    case earlyCandidatesConnect
    /// class 3: a mute before the connection is up takes effect in a callback after it (Google Duo 2020).
    case muteCompletesLate
    /// class 4: a second offer of the ringing call is answered at once (Facebook Messenger for Android 2020).
    case updateAppliedWhileRinging
    /// class 5: an offer of somebody who takes part in the ringing call already picks it up (Group FaceTime,
    /// CVE-2019-6223).
    case participantJoinsRinging
    /// class 6: a callee obeys a refusal, which only a caller may receive (Signal for Android, CVE-2019-17191, where both
    /// roles shared their handlers).
    case refusalObeyedByCallee
    /// class 7: a call that ends while it is set up keeps its microphone until the app is idle again
    /// (signalapp/Signal-Desktop#7678, react-native-callkeep#445).
    case captureOutlivesSetup
    /// class 8: the answer to the other side's offer enables the muted track (JsSIP#700, team-telnyx/webrtc#667).
    case muteLostInRenegotiation
    /// class 9: a ringing callee gathers, signals its addresses and checks those of the caller (Signal, CVE-2020-5753).
    case addressesRevealedWhileRinging
    /// class 10: the end of a call whose offer has not arrived yet is forgotten (riot-android#376, element-web#17528).
    case earlyHangupForgotten
    /// class 11: an offer with the id of a call that is over rings (wire-webapp#22484).
    case endedCallRevived
    /// class 11: what a participant had earlier replaces what came since (twilio-video.js compares
    /// revisions against this).
    case olderRevisionObeyed
    /// class 12: a message is obeyed whichever user sent it (RFC 3261 section 12.2 requires the match).
    case strangersObeyed
    /// class 13: the side that yields in glare keeps the connection of its own call open (farnsworth#54).
    case yieldedCallKeptOpen
    /// class 15: in a glare of restarts both sides ignore the other's offer (y-webrtc#39).
    case restartGlareIgnoredByBoth
    /// class 16: a ringing callee has no timer (freeswitch#1448, Signal-Android#4172).
    case ringTimerForgotten
    /// class 16: nothing limits the time in which a user comes into a room (callsim's own profile of Twilio, until it was
    /// searched).
    case entryTimerForgotten
    /// class 17: a user who hangs up during the setup is told that the other side did (wildfirechat/web-chat#41).
    case hangupBlamedOnOther
    /// class 18: the timer for a lost connection survives the call that it guards (openclaw#58586).
    case lossTimerLeaks
    /// class 19: DTLS records are read from addresses that ICE has not verified (FreeSWITCH, CVE-2023-51443; Asterisk,
    /// CVE-2023-49786).
    case strangersHandshakeRead
    /// class 20: the fingerprint of the remote certificate is not compared with the signalled one (freeswitch#2076,
    /// licode#2047).
    case fingerprintNotCompared
    /// class 25: the section's index of a candidate is converted without a check, and traps (livekit/sip#162).
    case candidateIndexTraps
    /// class 26: candidates that wait for their description are kept without a limit
    /// (amazon-kinesis-video-streams-webrtc-sdk-c#1060).
    case waitingCandidatesUnbounded
    /// class 27: a packet that arrives late stays counted as lost (janus-gateway#1545, srt#899).
    case latePacketStaysLost
    /// class 28: the ids of calls come from a counter of the process, and not of the run (docs/determinism.md).
    case callIDsOfProcess

    /// The defect planted for the task of the running test; concurrent tests never see it.
    @TaskLocal package static var planted: Defect?

    /// The defect planted for the whole process. It is set before anything runs.
    nonisolated(unsafe) package static var ofProcess: Defect?

    package var isPlanted: Bool { Self.ofProcess == self || Self.planted == self }
  }
#else
  /// The replacement of planted defects in a product build: a constant condition that the compiler removes.
  ///
  /// It is public because only public functions are inlined into other modules. Any name is valid: test builds check
  /// the names of the defects, and the program contains none of them.
  @dynamicMemberLookup
  public struct Defect {
    @inlinable init() {}

    /// Accepts the name of any defect.
    @inlinable public static subscript(dynamicMember name: StaticString) -> Defect { Defect() }

    /// Always false.
    @inlinable public var isPlanted: Bool { false }
  }
#endif
