import CallCore

/// Cuts encoded frames into payloads, whichever their format is.
///
/// It keeps its memory between frames. Begin a frame, then write its payloads until ``next(of:into:)`` gives nil.
package struct VideoPacketizer: Sendable {
  /// What an encoder says of a frame, in the format of its stream.
  package enum Frame: Hashable, Sendable {
    case vp8(VP8PayloadDescriptor)
    case vp9(VP9PayloadDescriptor)
    /// A byte stream with start codes.
    case h264(H264Packetizer.Mode)
    /// Units with size fields.
    case av1(isKeyFrame: Bool)
    case generic(isKeyFrame: Bool, pictureID: UInt16?, layer: GenericPayloadDescriptor.Layer? = nil)
  }

  private enum Work: Sendable {
    case none
    case vp8(VP8Packetizer)
    case vp9(VP9Packetizer)
    case h264
    case av1
    case generic(GenericPacketizer)
  }

  private var work = Work.none
  private var h264 = H264Packetizer()
  private var av1 = AV1Packetizer()

  package init() {}

  /// Prepares a frame.
  ///
  /// - Returns: the number of its packets; nil when it is empty, malformed or does not fit.
  package mutating func begin(_ bytes: RawSpan, as frame: Frame, limits: PayloadLimits) -> Int? {
    work = .none
    switch frame {
    case .vp8(let descriptor):
      guard let next = VP8Packetizer(frameSize: bytes.byteCount, descriptor: descriptor, limits: limits) else {
        return nil
      }
      work = .vp8(next)
      return next.packetCount
    case .vp9(let descriptor):
      guard let next = VP9Packetizer(frameSize: bytes.byteCount, descriptor: descriptor, limits: limits) else {
        return nil
      }
      work = .vp9(next)
      return next.packetCount
    case .h264(let mode):
      if h264.mode != mode { h264 = H264Packetizer(mode: mode) }
      guard h264.begin(bytes, limits: limits) else { return nil }
      work = .h264
      return h264.packetCount
    case .av1(let isKeyFrame):
      guard av1.begin(bytes, isKeyFrame: isKeyFrame, limits: limits) else { return nil }
      work = .av1
      return av1.packetCount
    case .generic(let isKeyFrame, let pictureID, let layer):
      guard
        let next = GenericPacketizer(
          frameSize: bytes.byteCount, isKeyFrame: isKeyFrame, pictureID: pictureID, layer: layer, limits: limits)
      else { return nil }
      work = .generic(next)
      return next.packetCount
    }
  }

  /// Writes the next payload of the frame that was begun. Always pass the same bytes.
  ///
  /// - Returns: its place in the frame; nil after the last, or, with nothing written, when it does not fit.
  package mutating func next(of bytes: RawSpan, into output: inout OutputSpan<UInt8>) -> PayloadPlace? {
    switch work {
    case .none: return nil
    case .vp8(var packetizer):
      defer { work = .vp8(packetizer) }
      return packetizer.next(of: bytes, into: &output)
    case .vp9(var packetizer):
      defer { work = .vp9(packetizer) }
      return packetizer.next(of: bytes, into: &output)
    case .h264: return h264.next(of: bytes, into: &output)
    case .av1: return av1.next(of: bytes, into: &output)
    case .generic(var packetizer):
      defer { work = .generic(packetizer) }
      return packetizer.next(of: bytes, into: &output)
    }
  }
}
