/// The counters of a video stream's receiving end, named as in W3C webrtc-stats where it has them.
package struct VideoReceiveStatistics: Hashable, Sendable {
  /// The number of whole frames.
  package var framesReceived = 0
  package var keyFramesReceived = 0
  /// The number of frames passed over because they came too late, or cleared.
  package var framesDropped = 0
  /// The number of whole frames that came too late to be buffered, or whose references make no sense.
  package var discardedFrameCount = 0
  /// The number of whole frames that lacked parameter sets.
  package var undecodableFrameCount = 0
  /// The number of NACK packets.
  package var nackCount = 0
  /// The number of packets that could not be used, by reason.
  package var duplicatePacketCount = 0
  package var oldPacketCount = 0
  package var overflowCount = 0
  package var paddingPacketCount = 0
  package var malformedPacketCount = 0
  package var unknownPayloadTypeCount = 0
  package var missingStructureCount = 0

  package init() {}

  mutating func count(_ verdict: VideoReceiver.Verdict) {
    switch verdict {
    case .inserted: break
    case .duplicate: duplicatePacketCount += 1
    case .old: oldPacketCount += 1
    case .overflow: overflowCount += 1
    case .padding: paddingPacketCount += 1
    case .malformed: malformedPacketCount += 1
    case .unknownPayloadType: unknownPayloadTypeCount += 1
    case .missingStructure: missingStructureCount += 1
    }
  }
}
