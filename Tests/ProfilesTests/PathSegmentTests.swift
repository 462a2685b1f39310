import Testing

@testable import Profiles

@Suite struct PathSegmentTests {
  @Test(arguments: ["alice", "a b", "a/b?c#d%20", "zoë", ""])
  func `a text is the same after it was a segment`(_ text: String) {
    let segment = PathSegment.encode(text)
    #expect(segment.utf8.allSatisfy { $0 > 32 && $0 < 127 && !"/?#".utf8.contains($0) })
    #expect(PathSegment.decode(segment[...]) == text)
  }

  @Test(arguments: ["%", "%4", "%zz", "%+1", "%ff"])
  func `a segment that is not well-formed is none`(_ segment: String) {
    #expect(PathSegment.decode(segment[...]) == nil)
  }
}
