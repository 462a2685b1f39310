/// The reason and the line of a failure to read a session description.
package struct SDPError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Reason: Hashable, Sendable {
    case tooLarge
    case lineTooLong
    case tooManyLines
    case tooManyMediaSections
    /// A line that is not `letter=value`.
    case notTypeEqualsValue
    /// NUL, a bare carriage return, or bytes that are not UTF-8.
    case invalidCharacter
    /// A line type that is unknown, or known but not allowed here (RFC 8866 §5).
    case unexpectedLine(Unicode.Scalar)
    case missingLine(Unicode.Scalar)
    /// The field or attribute of this name does not follow its grammar.
    case malformed(String)
  }

  /// The line, counted from 1.
  package let line: Int
  package let reason: Reason

  package init(line: Int, reason: Reason) {
    self.line = line
    self.reason = reason
  }

  package var description: String { "SDP line \(line): \(reason)" }
}

extension SDPError.Reason: CustomStringConvertible {
  package var description: String {
    switch self {
    case .tooLarge: "the description is too large"
    case .lineTooLong: "the line is too long"
    case .tooManyLines: "the section has too many lines"
    case .tooManyMediaSections: "there are too many m= sections"
    case .notTypeEqualsValue: "wanted is a letter, '=' and a value, such as 'a=sendrecv'"
    case .invalidCharacter: "there is a NUL, a carriage return without line feed, or text that is not UTF-8"
    case .unexpectedLine(let letter): "a line '\(letter)=' is not allowed here"
    case .missingLine(let letter): "wanted is a line '\(letter)='; a description begins with v=, o= and s="
    case .malformed(let name):
      // A name that is not a token is arbitrary input of the peer, so it is not shown.
      (name.isToken ? "'\(name.prefix(40))' is malformed" : "an attribute has a malformed name")
        + (Self.forms[name].map { "; it looks like \($0)" } ?? "")
    }
  }

  /// Examples of lines and attributes (RFC 8866 section 9, and the RFCs of the attributes).
  private static let forms = [
    "v": "v=0", "o": "o=- 4611 2 IN IP4 127.0.0.1", "c": "c=IN IP4 203.0.113.7", "b": "b=AS:64", "t": "t=0 0",
    "m": "m=audio 9 UDP/TLS/RTP/SAVPF 111 0", "mid": "a=mid:0", "group": "a=group:BUNDLE 0 1",
    "msid": "a=msid:stream track", "ice-ufrag": "a=ice-ufrag:8hhY, of 4 to 256 characters",
    "ice-pwd": "a=ice-pwd:asd88fgpdd777uzjYhagZg, of 22 to 256 characters",
    "fingerprint": "a=fingerprint:sha-256 12:AB:…", "setup": "a=setup:actpass, active, passive or holdconn",
    "candidate": "a=candidate:1 1 udp 2130706431 203.0.113.7 5000 typ host", "rtpmap": "a=rtpmap:111 opus/48000/2",
    "fmtp": "a=fmtp:111 minptime=10", "rtcp-fb": "a=rtcp-fb:111 transport-cc",
    "extmap": "a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid", "ssrc": "a=ssrc:1234 cname:name",
    "ssrc-group": "a=ssrc-group:FID 1234 5678", "ptime": "a=ptime:20", "maxptime": "a=maxptime:120",
    "sctp-port": "a=sctp-port:5000", "max-message-size": "a=max-message-size:262144",
  ]
}

/// The limits on a description, so that hostile input stays cheap.
package struct SDPLimits: Hashable, Sendable {
  package var bytes = 1 << 20
  package var bytesPerLine = 8_192
  package var mediaSections = 256
  /// The maximum number of lines in one section, the session section included.
  package var linesPerSection = 2_048

  package init() {}
}
