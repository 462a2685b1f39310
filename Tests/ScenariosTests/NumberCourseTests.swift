import CallCore
import ScenarioFormat
import Testing
import Vocabulary

@testable import ScenarioJudge
@testable import ScenarioSuite

@Suite struct NumberCourseTests {
  private func course(_ name: String, _ type: ValueType, _ samples: [(Int64, Double)]) -> [Double] {
    var metric = Expectation.Metric()
    metric.value = ValuePath(
      subject: "bob", name: name, type: type, unit: nil, counting: CommonVocabulary.value(name)?.counting,
      span: .builtIn)
    var course = NumberCourse(metric)
    for (time, value) in samples { course.add(value, at: .zero + .milliseconds(time)) }
    return course.points.points.map(\.value)
  }

  @Test func `the course of a number is its samples`() {
    #expect(course("q.mos", .real, [(0, 4.4), (250, 4.2), (500, 4.3)]) == [4.4, 4.2, 4.3])
  }

  @Test func `the course of a counter is its growth in each second, and it may begin anew`() {
    let name = "stats.inbound-rtp.audio.packetsReceived"
    #expect(course(name, .count, [(0, 10), (500, 40), (1_000, 60), (1_500, 80), (2_500, 135)]) == [50, 50])
    #expect(course(name, .count, [(0, 10), (1_000, 60), (1_250, 5), (2_250, 55)]) == [50, 50])
  }

  @Test func `a comparison keeps the courses of its first seed, and the page draws them`() throws {
    let point = try #require(
      Compared.points(Compared.text("{ a: {}, b: { alice.audio.ptime: 60ms } }", line: ", loss: 10%")).first)
    let timeline = try #require(point.timeline)
    #expect(timeline.seed == point.seeds.first)
    for arm in point.arms.names {
      #expect(timeline.drops[arm]?.total ?? 0 > 0)
      #expect(point.numbers.allSatisfy { timeline.courses[$0.courseTitle]?[arm]?.points.isEmpty == false })
    }
    let page = ComparePage(CompareReport([point]), environment: .current).html
    #expect(page.contains("<summary>Seed 1 over time</summary>") && page.contains("Packets dropped"))
  }
}
