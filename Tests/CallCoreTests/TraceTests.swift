import CallCore
import Testing

private final class Recorder: TraceObserver {
  var lines: [String] = []
  func observe(_ record: TraceRecord, in trace: Trace) {
    let declaration = trace.declarations[Int(record.kind.id)]
    let fields = declaration.fields.indices.map { "\(declaration.fields[$0].name)=\(trace.datum(at: $0, of: record))" }
    lines.append("\(trace.subjects[Int(record.subject.id)]) \(declaration.name) \(fields.joined(separator: " "))")
  }
}

@Suite struct TraceTests {
  private func run(reason: String) -> (UInt64, [String]) {
    let trace = Trace()
    let recorder = Recorder()
    let dropped = trace.declare("packet.dropped", TraceField("reason", .symbol), TraceField("to", .endpoint))
    trace.add(recorder, for: [dropped])
    trace.now = .zero + .milliseconds(3)
    let destination = Endpoint(IPAddress(v4: 0x7F00_0001), port: 9)
    trace.write(dropped, trace.subject("link/wan"), trace.value(reason), trace.value(destination))
    return (trace.hash, recorder.lines)
  }

  @Test func `an event is read back with its declared names and types`() {
    #expect(run(reason: "loss").1 == ["link/wan packet.dropped reason=loss to=127.0.0.1:9"])
  }

  @Test func `the hash depends on what a kind is called and not on when it was declared`() {
    func hash(of kind: String, after other: String?) -> UInt64 {
      let trace = Trace()
      if let other { _ = trace.declare(other, TraceField("value", .symbol)) }
      trace.write(trace.declare(kind, TraceField("value", .symbol)), trace.subject("alice"), trace.value("new"))
      return trace.hash
    }
    #expect(hash(of: "ice.state", after: nil) != hash(of: "dtls.state", after: nil))
    #expect(hash(of: "ice.state", after: nil) == hash(of: "ice.state", after: "dtls.state"))
  }

  @Test func `what the harness names and writes changes neither the hash nor the numbers of the world's events`() {
    final class Numbers: TraceObserver {
      var numbers: [UInt64] = []
      func observe(_ record: TraceRecord, in trace: Trace) { numbers.append(record.number.rawValue) }
    }
    func run(isWatched: Bool) -> (hash: UInt64, count: UInt64, numbers: [UInt64]) {
      let (trace, numbers) = (Trace(), Numbers())
      trace.add(numbers)
      let sampled = trace.declare("q.mos", TraceField("value", .real), origin: .harness)
      let state = trace.declare("ice.state", TraceField("value", .symbol), TraceField("to", .endpoint))
      if isWatched {
        trace.write(sampled, trace.subject("wire"), .real(4))
        _ = (trace.symbol("seen"), trace.value(Endpoint(IPAddress(v4: 1), port: 2)))
      }
      let endpoint = trace.value(Endpoint(IPAddress(v4: 0x7F00_0001), port: 9))
      trace.write(state, trace.subject("alice"), trace.value("new"), endpoint)
      if isWatched { trace.write(sampled, trace.subject("alice"), .real(3)) }
      trace.write(state, trace.subject("bob"), trace.value("checking"), endpoint)
      return (trace.hash, trace.count, numbers.numbers)
    }
    let (alone, watched) = (run(isWatched: false), run(isWatched: true))
    #expect((watched.hash, watched.count) == (alone.hash, alone.count))
    #expect(watched.numbers == [0, 1, 0, 2] && alone.numbers == [1, 2])
  }

  @Test func `the hash depends on what is named, whichever was named first`() {
    func hash(of subject: String, _ value: String, _ port: UInt16) -> UInt64 {
      let trace = Trace()
      let state = trace.declare("ice.state", TraceField("value", .symbol), TraceField("to", .endpoint))
      trace.write(
        state, trace.subject(subject), trace.value(value), trace.value(Endpoint(IPAddress(v4: 1), port: port)))
      return trace.hash
    }
    let hashes = [hash(of: "a", "x", 1), hash(of: "b", "x", 1), hash(of: "a", "y", 1), hash(of: "a", "x", 2)]
    #expect(Set(hashes).count == 4)
  }

  @Test func `equal runs have equal hashes and different runs differ`() {
    #expect(run(reason: "loss").0 == run(reason: "loss").0)
    #expect(run(reason: "loss").0 != run(reason: "queue").0)
  }

  @Test func `the ambient cause is stamped on events`() {
    let trace = Trace()
    let kind = trace.declare("tick")
    let first = trace.write(kind, trace.subject("a"))
    trace.cause = first
    final class Causes: TraceObserver {
      var causes: [EventNumber] = []
      func observe(_ record: TraceRecord, in trace: Trace) { causes.append(record.cause) }
    }
    let causes = Causes()
    trace.add(causes)
    trace.write(kind, trace.subject("a"))
    trace.write(kind, trace.subject("a"), cause: EventNumber.none)
    #expect(causes.causes == [first, .none])
  }
}
