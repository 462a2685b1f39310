import CallCore
import Testing

private final class Recorder: TraceObserver {
  var lines: [String] = []
  func observe(_ record: TraceRecord, in trace: Trace) {
    let fields = trace.fields(of: record).map { "\($0.name)=\($0.value)" }
    lines.append("\(trace.name(of: record.subject)) \(trace.name(of: record.kind)) \(fields.joined(separator: " "))")
  }
}

@Suite struct TraceTests {
  private func run(reason: String) -> (UInt64, [String]) {
    let trace = Trace()
    let recorder = Recorder()
    let dropped = TraceEvent("packet.dropped", ("reason", String.self), ("to", Endpoint.self))
    trace.add(recorder)
    trace.now = .zero + .milliseconds(3)
    let destination = Endpoint(IPAddress(v4: 0x7F00_0001), port: 9)
    trace.write(dropped, trace.subject("link/wan"), reason, destination)
    return (trace.hash, recorder.lines)
  }

  @Test func `an event is read back with its declared names and types`() {
    #expect(run(reason: "loss").1 == ["link/wan packet.dropped reason=loss to=127.0.0.1:9"])
  }

  @Test func `the hash depends on what a kind is called and not on when it was declared`() {
    func hash(of kind: String, after other: String?) -> UInt64 {
      let trace = Trace()
      if let other { trace.declare(TraceEvent(other, ("value", String.self))) }
      trace.write(TraceEvent(kind, ("value", String.self)), trace.subject("alice"), "new")
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
      let sampled = TraceEvent("q.mos", ("value", Double.self), origin: .harness)
      let state = TraceEvent("ice.state", ("value", String.self), ("to", Endpoint.self))
      if isWatched {
        trace.write(sampled, trace.subject("wire"), 4)
        _ = (trace.symbol("seen"), Endpoint(IPAddress(v4: 1), port: 2))
      }
      let endpoint = Endpoint(IPAddress(v4: 0x7F00_0001), port: 9)
      trace.write(state, trace.subject("alice"), "new", endpoint)
      if isWatched { trace.write(sampled, trace.subject("alice"), 3) }
      trace.write(state, trace.subject("bob"), "checking", endpoint)
      return (trace.hash, trace.count, numbers.numbers)
    }
    let (alone, watched) = (run(isWatched: false), run(isWatched: true))
    #expect((watched.hash, watched.count) == (alone.hash, alone.count))
    #expect(watched.numbers == [0, 1, 0, 2] && alone.numbers == [1, 2])
  }

  @Test func `the hash depends on what is named, whichever was named first`() {
    func hash(of subject: String, _ value: String, _ port: UInt16) -> UInt64 {
      let trace = Trace()
      let state = TraceEvent("ice.state", ("value", String.self), ("to", Endpoint.self))
      trace.write(
        state, trace.subject(subject), value, Endpoint(IPAddress(v4: 1), port: port))
      return trace.hash
    }
    let hashes = [hash(of: "a", "x", 1), hash(of: "b", "x", 1), hash(of: "a", "y", 1), hash(of: "a", "x", 2)]
    #expect(Set(hashes).count == 4)
  }

  @Test func `an event is read back with the types that its schema has`() {
    let event = TraceEvent(
      "all", ("word", String.self), ("number", Int.self), ("bits", UInt64.self), ("real", Double.self),
      ("after", Interval.self), ("to", Endpoint.self))
    let (none, flag) = (TraceEvent("none"), TraceEvent("flag", ("value", Bool.self), ("ssrc", UInt32.self)))
    let trace = Trace()
    let endpoint = Endpoint(IPAddress(v4: 0x7F00_0001), port: 9)
    var heard: [String] = []
    trace.listen(to: event) { _, word, number, bits, real, after, to in
      #expect((word, number, bits, real, after, to) == ("new", -7, .max, 0.5, .milliseconds(3), endpoint))
      heard.append("all")
    }
    trace.listen(to: none) { record in heard.append("none of \(trace.name(of: record.subject))") }
    trace.listen(to: flag) { _, isTrue, ssrc in heard.append("\(isTrue) \(ssrc)") }
    trace.write(event, trace.subject("a"), "new", -7, .max, 0.5, .milliseconds(3), endpoint)
    trace.write(none, trace.subject("b"))
    trace.write(flag, trace.subject("a"), true, .max)
    trace.removeObservers()
    #expect(heard == ["all", "none of b", "true 4294967295"])
  }

  @Test func `a value is that of an observable kind alone`() {
    final class Values: TraceObserver {
      var all: [TraceDatum?] = []
      func observe(_ record: TraceRecord, in trace: Trace) { all.append(trace.value(of: record)) }
    }
    let (trace, values) = (Trace(), Values())
    trace.add(values)
    trace.write(TraceEvent("ice.state", ("value", String.self)), trace.subject("a"), "new")
    trace.write(TraceEvent("track", ("mid", String.self)), trace.subject("a"), "0")
    trace.write(TraceEvent("tick"), trace.subject("a"))
    #expect(values.all == [.symbol("new"), nil, nil])
  }

  @Test func `whoever reads a kind with other types than it has traps`() async {
    await #expect(processExitsWith: .failure) {
      let trace = Trace()
      trace.write(TraceEvent("ice.state", ("value", String.self)), trace.subject("a"), "new")
      trace.listen(to: TraceEvent("ice.state", ("value", Int.self))) { _, _ in }
    }
    await #expect(processExitsWith: .failure) {
      let trace = Trace()
      let reader = trace.reader(of: TraceEvent("other", ("value", Int.self)))
      final class Reading: TraceObserver {
        let reader: TraceReader<Int>
        init(_ reader: TraceReader<Int>) { self.reader = reader }
        func observe(_ record: TraceRecord, in trace: Trace) { _ = reader.values(of: record, in: trace) }
      }
      trace.add(Reading(reader))
      trace.write(TraceEvent("number", ("value", Int.self)), trace.subject("a"), 3)
    }
  }

  @Test func `equal runs have equal hashes and different runs differ`() {
    #expect(run(reason: "loss").0 == run(reason: "loss").0)
    #expect(run(reason: "loss").0 != run(reason: "queue").0)
  }

  @Test func `the ambient cause is stamped on events`() {
    let trace = Trace()
    let kind = TraceEvent("tick")
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
