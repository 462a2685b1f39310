internal import Bitstreams
import CallCore

/// The payload formats of video.
package enum VideoFormat: Hashable, Sendable {
  /// RFC 7741.
  case vp8
  /// RFC 9628.
  case vp9
  /// RFC 6184, modes 0 and 1.
  case h264
  /// The AV1 RTP specification.
  case av1
  /// The one-byte header of libwebrtc, for a codec without a format.
  case generic
}

/// What the payload of a video packet says about itself and its frame.
package struct VideoPayload: Hashable, Sendable {
  package enum Descriptor: Hashable, Sendable {
    case vp8(VP8PayloadDescriptor)
    case vp9(VP9PayloadDescriptor)
    case h264(H264Payload)
    case av1(AV1AggregationHeader)
    case generic(GenericPayloadDescriptor)
  }

  /// Whether a frame begins with the payload. Some formats do not say it.
  package enum Start: Hashable, Sendable {
    case no
    /// It begins a frame if the packet before it ends one.
    case ifPreviousEnds
    /// It may begin a frame even if the packet before it is not known, but others of its frame may come before it.
    case possibly
    case certainly
  }

  package var descriptor: Descriptor
  package var start: Start
  /// Whether the payload says that it ends a frame. The RTP marker says so too.
  package var endsFrame: Bool
  /// Whether the frame needs no other one, as far as this payload tells.
  package var isKeyFrame: Bool
  /// The picture's size in pixels; zero when the payload does not give it.
  package var width: UInt16
  package var height: UInt16
  /// The offset of the frame's bytes behind the descriptor; zero for formats whose payloads are put together otherwise.
  package var dataOffset: Int

  /// Reads a payload. Returns nil when it is empty or malformed.
  package init?(parsing payload: RawSpan, format: VideoFormat) {
    switch format {
    case .vp8: self.init(vp8: payload)
    case .vp9: self.init(vp9: payload)
    case .h264:
      guard let content = H264Payload(parsing: payload) else { return nil }
      var start = Start.ifPreviousEnds
      if case .fragment(let isFirst, _) = content.structure, !isFirst {
        start = .no
      } else if content.canBeginFrame {
        start = .possibly
      }
      self.init(.h264(content), start: start, isKeyFrame: content.hasInstantaneousRefresh)
      (width, height) = (content.width, content.height)
    case .av1:
      guard let header = AV1Payload(parsing: payload)?.header else { return nil }
      let start = header.beginsSequence ? Start.certainly : header.continuesUnit ? .no : .ifPreviousEnds
      self.init(.av1(header), start: start, isKeyFrame: header.beginsSequence)
    case .generic:
      var size = 0
      guard let descriptor = GenericPayloadDescriptor(parsing: payload, size: &size), size < payload.byteCount else {
        return nil
      }
      self.init(
        .generic(descriptor), start: descriptor.beginsFrame ? .certainly : .no, isKeyFrame: descriptor.isKeyFrame,
        dataOffset: size)
    }
  }

  private init(
    _ descriptor: Descriptor, start: Start, endsFrame: Bool = false, isKeyFrame: Bool, dataOffset: Int = 0
  ) {
    self.descriptor = descriptor
    self.start = start
    self.endsFrame = endsFrame
    self.isKeyFrame = isKeyFrame
    self.dataOffset = dataOffset
    (width, height) = (0, 0)
  }

  private init?(vp8 payload: RawSpan) {
    var size = 0
    guard let descriptor = VP8PayloadDescriptor(parsing: payload, size: &size), size < payload.byteCount else {
      return nil
    }
    self.init(
      .vp8(descriptor), start: descriptor.beginsFrame ? .certainly : .no, isKeyFrame: false, dataOffset: size)
    guard descriptor.beginsFrame else { return }
    let frame = payload.extracting(size..<payload.byteCount)
    if let header = VP8FrameHeader(parsing: frame) {
      isKeyFrame = header.isKeyFrame
      (width, height) = (header.width ?? 0, header.height ?? 0)
    }
  }

  private init?(vp9 payload: RawSpan) {
    var size = 0
    guard let descriptor = VP9PayloadDescriptor(parsing: payload, size: &size), size < payload.byteCount else {
      return nil
    }
    self.init(
      .vp9(descriptor), start: descriptor.beginsFrame ? .certainly : .no, endsFrame: descriptor.endsFrame,
      isKeyFrame: !descriptor.isInterPicturePredicted, dataOffset: size)
    let layer = Int(descriptor.layer?.spatial ?? 0)
    if let resolutions = descriptor.structure?.resolutions, layer < resolutions.count {
      (width, height) = (resolutions[layer].width, resolutions[layer].height)
    }
  }

  /// Takes what the Dependency Descriptor says of the same packet, which goes before the payload's own fields.
  package mutating func apply(_ descriptor: DependencyDescriptor) {
    start = descriptor.isFirstPacket ? .certainly : .no
    endsFrame = descriptor.isLastPacket
    isKeyFrame = descriptor.structure != nil
    guard let resolution = descriptor.resolution else { return }
    (width, height) = (UInt16(clamping: resolution.width), UInt16(clamping: resolution.height))
  }
}
