import Testing
import Vocabulary

/// Descriptions and candidates that no correct peer sends.
@Suite struct DescriptionMutationTests {
  private static let sdp = [
    "v=0", "a=fingerprint:sha-256 AB:C0", "m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=setup:actpass", "a=ice-ufrag:abcd",
    "a=ice-pwd:0123", "a=mid:0",
  ].map { $0 + "\r\n" }.joined()

  private static let changes: [(DescriptionMutation, from: String, to: String)] = [
    (.rejected, "m=audio 9 ", "m=audio 0 "), (.swappedSetup, "a=setup:actpass", "a=setup:active"),
    (.changedFingerprint, "AB:C0", "AB:C1"), (.removedCredentials, "a=ice-ufrag:abcd\r\na=ice-pwd:0123\r\n", ""),
    (.inlineCandidates, "a=mid:0\r\n", "a=mid:0\r\na=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n"),
  ]

  @Test(arguments: changes.indices) func `a mutation changes its lines and no others`(index: Int) {
    let (mutation, old, new) = Self.changes[index]
    let mutated = mutation.mutate(Self.sdp, candidates: ["candidate:1 1 udp 1 192.0.2.1 9 typ host"])
    #expect(mutated == Self.sdp.replacing(old, with: new))
  }

  @Test func `a section is removed or repeated as a whole`() {
    #expect(!DescriptionMutation.removedSection.mutate(Self.sdp).contains("m=audio"))
    let repeated = DescriptionMutation.repeatedSection.mutate(Self.sdp)
    #expect(repeated.ranges(of: "m=audio").count == 2)
    #expect(repeated.ranges(of: "a=mid:0").count == 2)
  }

  @Test func `a candidate gets another address or port, and keeps the rest`() {
    let candidate = "candidate:1 1 udp 2122260223 192.0.2.1 50000 typ host"
    #expect(CandidateMutation.loopback.mutate(candidate) == candidate.replacing("192.0.2.1", with: "127.0.0.1"))
    #expect(CandidateMutation.lowPort.mutate(candidate) == candidate.replacing("50000", with: "1"))
    #expect(CandidateMutation.unspecified.mutate("end-of-candidates") == "end-of-candidates")
  }

  @Test func `every mutation has a word, and the word gives the mutation`() {
    let declaration = MessageDeclaration(
      "talk", .both, "", provenance: .harnessDefault,
      fields: [
        MessageField("id", .integer, as: .callID), MessageField("from", .string, as: .sender),
        MessageField("to", .string, as: .addressee), MessageField("turn", .integer, as: .revision),
        MessageField("sdp", .sdp, as: .description), MessageField("line", .candidate, as: .candidate),
      ])
    for mutation in declaration.mutations(going: .serverToClient) {
      #expect(MessageMutation.words.contains(mutation.word))
      #expect(MessageMutation(word: mutation.word, field: mutation.fieldName) == mutation)
    }
    #expect(MessageMutation(word: "missing", field: nil) == nil)
  }

  @Test(arguments: FrameMutation.allCases) func `a frame is never what it was`(mutation: FrameMutation) {
    #expect(mutation.mutate("42[\"call_offer\",{\"callId\":\"1\"}]") != "42[\"call_offer\",{\"callId\":\"1\"}]")
  }
}
