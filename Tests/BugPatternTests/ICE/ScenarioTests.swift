import CallCore
import Testing

/// Patterns that a whole call shows best.
@Suite struct ICEScenarioTests {
  @Test func `02 - a pair whose one end only checks have shown is nominated`() throws {
    try proves(.onlySignalledPairsNominated, by: "regressions/02-only-peer-reflexive")
  }

  @Test func `08 - without an end of candidates nobody checks for ever`() throws {
    try proves(.endOfCandidatesAwaited, by: "regressions/08-no-end-of-candidates")
  }

  @Test func `05 - a STUN server that falls silent takes nothing with it`() throws {
    try proves(.unusedCandidateWithdrawn, by: "regressions/05-stun-falls-silent")
  }

  @Test func `06 - a worse pair that works first does not keep the better one out`() throws {
    try proves(.firstNominationKept, by: "regressions/06-aggressive-nomination")
  }

  @Test func `09 - a peer that is heard of only after twelve seconds is waited for`() throws {
    try proves(.failedBeforeCandidatesCame, by: "regressions/09-failed-too-early")
  }

  @Test func `10 - candidates that overtake the description are kept for it`() throws {
    try proves(.earlyCandidateDropped, by: "regressions/10-candidate-before-description")
  }

  @Test func `11 - the old pairs carry the call until the answer to a restart has come`() throws {
    try proves(.restartEndsOldPairs, by: "mobility/restart-answered-late")
  }

  @Test func `12 - who has yet to hear the answer to its restart answers the other's checks`() throws {
    try proves(.earlyCheckUnanswered, by: "mobility/restart-answered-late")
  }

  @Test func `12 - each restart ends on a pair of its own`() throws {
    try proves(.restartKeepsOldCredentials, by: "regressions/12-restart-credentials")
  }

  @Test func `14 - a restart gathers on the sockets there are`() throws {
    try proves(.restartReusesDeadSockets, by: "regressions/14-restart-needs-new-sockets")
  }

  @Test func `15 - lost replies do not end the consent loop`() throws {
    try proves(.consentStopsAtLostReply, by: "regressions/15-consent-survives-lost-replies")
  }

  @Test func `17 - out of the house and back, the Wi-Fi is gathered again`() throws {
    try proves(.restartGathersNothing, by: "regressions/17-wifi-to-lte-and-back")
  }

  @Test func `17 - a backup that is not needed for two minutes is there when it is`() throws {
    try proves(.backupPairsPruned, by: "mobility/quiet-minutes-with-backup")
  }

  @Test func `17 - a pair on which only answers to checks come is not left`() throws {
    try proves(.answersCountForNothing, by: "mobility/quiet-minutes-with-backup")
  }

  @Test func `18 - a mapping that moves under keepalive is followed`() throws {
    try proves(.mappedPortNotFollowed, by: "regressions/18-rebinding-under-keepalive")
  }

  @Test func `19 - behind one NAT without hairpin the relay is used`() throws {
    try proves(.relayNotGatheredBesideReflexive, by: "regressions/19-no-hairpin")
  }
}
