import CallCore
import FuzzHarness
import SDP

/// A description is read, written, offered to a session that answers it, and given as the answer to an offer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSDP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { input in
    guard let description = try? SessionDescription(parsing: input) else { return 0 }
    let again = try? SessionDescription(parsing: description.text)
    require(again == description, "the description does not survive:\n\(description.text)")
    return 1 + answer(description) + answered(by: description)
  }
}

private let parameters = TransportParameters(
  usernameFragment: "ufrg", password: "passwordpasswordpassword",
  fingerprints: [Fingerprint(algorithm: "sha-256", digest: Array(repeating: 7, count: 32))])

private func session() -> JSEPSession {
  var session = JSEPSession(
    JSEPSession.Configuration(
      sessionID: 1,
      audio: MediaCapabilities(codecs: [.opus], headerExtensions: ["urn:ietf:params:rtp-hdrext:sdes:mid"]),
      video: MediaCapabilities(codecs: [.vp8])))
  for (kind, ssrc) in [(MediaKind.audio, UInt32(1)), (.video, 2)] {
    _ = try? session.addTrack(kind, sender: Transceiver.Sender(trackID: "\(kind)", cname: "fuzz", ssrc: ssrc))
  }
  return session
}

private func answer(_ offer: SessionDescription) -> Int {
  var session = session()
  guard (try? session.setRemoteDescription(.offer, offer)) != nil else {
    require(session.signalingState == .stable, "a refused offer changed the state")
    return 0
  }
  guard let answer = try? session.createAnswer(parameters) else { return 1 }
  require(answer.media.count == offer.media.count, "the answer has other sections than the offer")
  require((try? SessionDescription(parsing: answer.text)) == answer, "our answer does not survive:\n\(answer.text)")
  do {
    try session.setLocalDescription(.answer, answer)
  } catch {
    fatalError("our own answer is refused: \(error)\n\(offer.text)\n\(answer.text)")
  }
  // The same once more is no change, and a further offer of ours must be possible.
  if (try? session.setRemoteDescription(.offer, offer)) != nil { _ = try? session.rollback() }
  return 2 + ((try? session.createOffer(parameters))?.media.count ?? 0)
}

private func answered(by answer: SessionDescription) -> Int {
  var session = session()
  guard let offer = try? session.createOffer(parameters) else { return 0 }
  _ = try? session.setLocalDescription(.offer, offer)
  guard (try? session.setRemoteDescription(.answer, answer)) != nil else {
    require(session.signalingState == .haveLocalOffer, "a refused answer changed the state")
    return 0
  }
  require(session.media.allSatisfy { !$0.sendCodecs.isEmpty }, "media without a codec")
  return session.media.count
}
