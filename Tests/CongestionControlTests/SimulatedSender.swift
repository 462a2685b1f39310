import CallCore
import RTP

@testable import CongestionControl

/// A sender of video with its receiver: encoder, pacer, numbering and estimator at one end, the recorder of arrivals at
/// the other.
final class SimulatedSender {
  struct Settings {
    var estimator = BandwidthEstimator.Settings()
    /// The settings of NADA, if that takes the place of the estimator.
    var nada: NADAController.Settings?
    /// The highest rate of the encoder.
    var maximum = DataRate.kilobitsPerSecond(2_500)
    /// Whether packets carry transport-wide numbers.
    var isNumbered = true
    /// Whether the allocated maximum is told to the estimator, which limits probes.
    var tellsMaximum = true
    var starts = Interval.zero
    /// The relative deviation of frames from their size.
    var sizeDeviation = 0.1
    var framesPerSecond: Int64 = 30
    /// The interval of RTCP reports.
    var reportInterval = Interval.seconds(1)
  }

  let settings: Settings
  let index: Int
  var estimator: CongestionController
  var sequencer = TransportSequencer()
  var recorder = ArrivalRecorder()
  private(set) var pacer: Pacer
  /// Whether the source makes frames, and their rate if it is not the target.
  var isSending = true
  var fixedRate: DataRate?
  private var isStarted = false
  private var nextFrame: Instant
  private var random: RandomStream
  private var number: UInt16 = 0
  private var results: [TransportSequencer.Result] = []
  private(set) var probes: [ProbeCluster] = []
  private(set) var changes: [EstimateChange] = []
  /// The feedback on its way back.
  private var feedback = FIFO<(arrives: Instant, packet: TransportFeedback)>()
  /// The packets received since the last report, and the time of the next.
  private var receivedCount = 0
  private var nextReport: Instant
  private var roundTrip = Interval.zero
  private(set) var receivedByteCount = 0
  private(set) var sentByteCount = 0

  init(settings: Settings = Settings(), index: Int = 0, seed: UInt64 = 1) {
    (self.settings, self.index) = (settings, index)
    estimator =
      settings.nada.map { CongestionController(NADAController(settings: $0)) }
      ?? CongestionController(BandwidthEstimator(settings: settings.estimator))
    pacer = Pacer(settings: Pacer.Settings(rate: .kilobitsPerSecond(750)))
    random = RandomSource(seed: seed).stream("frames/\(index)")
    nextFrame = .zero + settings.starts
    nextReport = nextFrame + .seconds(1)
    // A receiver that estimates 300 kbit/s reports each 50 ms.
    recorder.setBitrate(.kilobitsPerSecond(300))
  }

  var target: DataRate { estimator.target.target }

  /// The time at which the sender or its receiver has to do something.
  var nextDue: Instant {
    guard isStarted else { return .zero + settings.starts }
    var due = min(nextFrame, nextReport)
    for deadline in [estimator.deadline, pacer.deadline, recorder.deadline, feedback.first?.arrives] {
      if let deadline { due = min(due, deadline) }
    }
    return due
  }

  // MARK: Sending

  func run(into link: inout SimulatedLink, at now: Instant) {
    guard now >= .zero + settings.starts else { return }
    if !isStarted {
      isStarted = true
      estimator.setAvailable(true, at: now)
      var limits = StreamLimits()
      if settings.tellsMaximum { limits.maximum = settings.maximum }
      estimator.setStreams(limits, at: now)
    }
    receiveFeedback(at: now)
    report(at: now)
    estimator.process(at: now)
    apply(at: now)
    if now >= nextFrame { makeFrame(at: now) }
    drain(into: &link, at: now)
    apply(at: now)
  }

  private func apply(at now: Instant) {
    while let probe = estimator.nextProbe() {
      probes.append(probe)
      pacer.probe(probe)
    }
    while let change = estimator.nextChange() { changes.append(change) }
    pacer.setRate(estimator.target.pacing, at: now)
    pacer.setPaddingRate(estimator.target.padding, at: now)
  }

  private func makeFrame(at now: Instant) {
    nextFrame += .seconds(1) / settings.framesPerSecond
    guard isSending else { return }
    let scale = 1 + settings.sizeDeviation * (2 * random.unit() - 1)
    let rate = fixedRate ?? min(target, settings.maximum) * (1 - estimator.target.frameDropRatio)
    var bytes = max(20, Int(rate.bits * scale / 8) / Int(settings.framesPerSecond))
    while bytes > 0 {
      let size = min(bytes, 1_200)
      _ = pacer.enqueue(.video, at: now) { self.write(size, into: &$0, at: now) }
      bytes -= size
    }
  }

  private func write(_ size: Int, into output: inout OutputSpan<UInt8>, at now: Instant) -> OutgoingPacket? {
    number &+= 1
    let header = RTPHeader(payloadType: 96, sequenceNumber: number, timestamp: 0, ssrc: UInt32(index + 1))
    _ = header.write(into: &output)
    output.append(repeating: 0, count: max(1, size - 12))
    return OutgoingPacket(header: header, headerSize: 12, captured: now)
  }

  private func drain(into link: inout SimulatedLink, at now: Instant) {
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
    defer { memory.deallocate() }
    while true {
      pacer.pad(at: now) { self.write(min($0, 1_200), into: &$1, at: now) }
      var output = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
      guard let packet = pacer.next(into: &output, at: now) else { return }
      _ = output.finalize(for: memory)
      var wireNumber: UInt16 = 0
      if settings.isNumbered {
        wireNumber = sequencer.assign(byteCount: packet.byteCount, probe: packet.probe, at: now)
        estimator.sent(byteCount: packet.byteCount, bytesInFlight: sequencer.bytesInFlight, at: now)
      }
      sentByteCount += packet.byteCount
      link.send(
        SimulatedLink.Packet(owner: index, number: wireNumber, byteCount: packet.byteCount, enqueued: now), at: now)
    }
  }

  private func receiveFeedback(at now: Instant) {
    while let first = feedback.first, first.arrives <= now {
      _ = feedback.popFirst()
      results.removeAll(keepingCapacity: true)
      sequencer.receive(first.packet, into: &results)
      estimator.receive(results, bytesInFlight: sequencer.bytesInFlight, at: now)
    }
  }

  // MARK: Receiving

  /// Takes a packet at the other end.
  func receive(_ packet: SimulatedLink.Packet) {
    receivedCount += 1
    receivedByteCount += packet.byteCount
    roundTrip = packet.arrives - packet.enqueued
    if settings.isNumbered { recorder.record(packet.number, from: 1, at: packet.arrives) }
  }

  /// Sends feedback that is due, over a path with a delay.
  func giveFeedback(delay: Interval, blockedUntil: Instant = .zero, at now: Instant) {
    returnDelay = delay
    while let packet = recorder.takeFeedback(from: 9, at: now) {
      feedback.append((max(now, blockedUntil) + delay, packet))
    }
  }

  private var returnDelay = Interval.zero

  /// Receives an RTCP report when one is due.
  private func report(at now: Instant) {
    guard now >= nextReport else { return }
    nextReport = now + settings.reportInterval
    estimator.setRoundTrip(roundTrip + returnDelay, at: now)
    estimator.receiveReport(lost: lostCount, received: receivedCount, at: now)
    (receivedCount, lostCount) = (0, 0)
  }

  /// The packets that the link has dropped since the last report.
  var lostCount = 0
}
