import Testing

@testable import SDP

private let minimal = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n"

/// What people read when a description cannot be used.
@Suite struct ErrorWordingTests {
  @Test(arguments: [
    ("", "SDP line 0: wanted is a line 'v='; a description begins with v=, o= and s="),
    ("v=1\r\n", "SDP line 1: 'v' is malformed; it looks like v=0"),
    (minimal + "hello\r\n", "SDP line 5: wanted is a letter, '=' and a value, such as 'a=sendrecv'"),
    (minimal + "y=1\r\n", "SDP line 5: a line 'y=' is not allowed here"),
    (
      minimal + "a=x\ry\r\n",
      "SDP line 5: there is a NUL, a carriage return without line feed, or text that is not UTF-8"
    ),
    (minimal + "a=\u{1B}[2J\r\n", "SDP line 5: an attribute has a malformed name"),
    (minimal + "a=rtpmap:111 opus\r\n", "SDP line 5: 'rtpmap' is malformed; it looks like a=rtpmap:111 opus/48000/2"),
    (minimal + "m=audio\r\n", "SDP line 5: 'm' is malformed; it looks like m=audio 9 UDP/TLS/RTP/SAVPF 111 0"),
    (minimal + "a=rid\r\n", "SDP line 5: 'rid' is malformed"),
  ])
  func `a description that cannot be read names its line and what is wanted`(_ text: String, wording: String) {
    let error = #expect(throws: SDPError.self) { try SessionDescription(parsing: text) }
    #expect(error?.description == wording)
  }

  @Test(arguments: [
    SDPError.Reason.tooLarge, .lineTooLong, .tooManyLines, .tooManyMediaSections, .notTypeEqualsValue,
    .invalidCharacter, .unexpectedLine("y"), .missingLine("s"), .malformed("setup"),
  ])
  func `no reason is a name of the code`(_ reason: SDPError.Reason) { #expect(isSentence("\(reason)"), "\(reason)") }

  @Test(arguments: [
    JSEPError.wrongState(.haveLocalOffer), .modifiedDescription, .unknownTransceiver, .transceiverStopped,
    .credentialsUnchanged, .credentialsChanged, .nothingToNegotiate, .noCommonCodec, .duplicateMid("0"),
    .mLineMismatch(mLineIndex: 1), .invalidBundleGroup(mid: "0"), .notBundled(mLineIndex: 1), .payloadTypeConflict(96),
    .extensionConflict(id: 3), .missingICECredentials(mLineIndex: 0), .missingFingerprint(mLineIndex: 0),
    .unusableFingerprint(mLineIndex: 0), .missingRTCPMux(mLineIndex: 0), .invalidSetup(.holdconn), .setupChanged,
    .noRemoteDescription, .unknownSection,
    .unknownUsernameFragment,
  ])
  func `no refusal is a name of the code`(_ error: JSEPError) { #expect(isSentence("\(error)"), "\(error)") }

  @Test(arguments: [
    (JSEPError.missingFingerprint(mLineIndex: 0), 5 as Int?), (.missingRTCPMux(mLineIndex: 1), 7),
    (.mLineMismatch(mLineIndex: 2), nil),
    (.duplicateMid("1"), 8), (.invalidSetup(.holdconn), 9), (.noRemoteDescription, nil),
  ])
  func `a refusal names the line it is about`(_ error: JSEPError, line: Int?) {
    let text =
      minimal + "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:1\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:1\r\n"
      + "a=setup:holdconn\r\na=mid:10\r\n"
    #expect(error.line(in: text) == line)
  }

  private func isSentence(_ text: String) -> Bool {
    text.contains(" ") && !text.contains(/[a-z][A-Z]\w*\(|rawValue|Optional|mLineIndex/)
  }
}
