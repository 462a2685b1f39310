import Testing

@testable import ICE

@Suite struct ErrorWordingTests {
  @Test(arguments: [
    (ICEError.closed, "the ICE agent is closed"),
    (.invalidCredentials, "a=ice-ufrag wants 4 to 256 and a=ice-pwd 22 to 256 letters, digits, '+' and '/'"),
    (.remoteRestarted, "the ICE credentials are new, and there was no ICE restart"),
    (.unusableLocalCandidate, "a local candidate wants a UDP transport and a numeric address"),
    (.notRestarting, "there is no ICE restart to take back"),
  ])
  func `every mistake is a sentence`(_ error: ICEError, wording: String) { #expect("\(error)" == wording) }

  @Test(arguments: [
    (ICECheckFailure.timedOut, "timed-out"), (.error(code: 487), "error-487"), (.nonSymmetric, "non-symmetric"),
    (.consentExpired, "consent-expired"),
  ])
  func `every failure of a check is a word of the trace`(_ failure: ICECheckFailure, word: String) {
    #expect("\(failure)" == word)
  }
}
