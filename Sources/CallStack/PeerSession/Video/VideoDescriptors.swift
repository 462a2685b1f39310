internal import CallCore
internal import Codecs
internal import Pictures
internal import RTP

/// Describes an encoder's frames to the packetizer, in the format of their codec.
struct VideoDescriptors {
  private var vp8: VP8DescriptorSequence
  private var vp9: VP9DescriptorSequence
  private var genericID: UInt16

  init(random: inout RandomStream) {
    vp8 = VP8DescriptorSequence(random: &random)
    vp9 = VP9DescriptorSequence(random: &random)
    genericID = UInt16(random.uniform(below: 1 << 15))
  }

  mutating func describe(_ frame: EncodedVideoFrame, codec: VideoCodec, layers: Int) -> VideoPacketizer.Frame {
    let layer = frame.layer
    switch codec {
    case .vp8:
      return .vp8(
        vp8.next(
          temporalLayer: layers > 1 ? UInt8(clamping: layer.id) : nil, isLayerSync: layers > 1 && layer.isSync,
          isNonReference: layer.isDiscardable))
    case .vp9:
      vp9.beginPicture(temporalLayer: UInt8(clamping: layer.id))
      var references: VP9References = []
      for distance in layer.dependencies { references.append(UInt8(clamping: distance)) }
      return .vp9(
        vp9.frame(
          references: references, layer: .init(temporal: UInt8(clamping: layer.id), isSwitchingUpPoint: layer.isSync),
          structure: frame.isKeyFrame ? Self.structure(of: frame) : nil))
    case .h264: return .h264(.nonInterleaved)
    case .av1: return .av1(isKeyFrame: frame.isKeyFrame)
    case .synthetic:
      genericID = (genericID + 1) & 0x7FFF
      let described = GenericPayloadDescriptor.Layer(
        index: UInt8(clamping: layer.id), isSync: layer.isSync, baseIndex: layer.baseIndex)
      return .generic(isKeyFrame: frame.isKeyFrame, pictureID: genericID, layer: layers > 1 ? described : nil)
    }
  }

  /// One spatial layer with its size, which receivers do not read from the frame itself.
  private static func structure(of frame: EncodedVideoFrame) -> VP9ScalabilityStructure {
    VP9ScalabilityStructure(
      resolutions: [.init(width: UInt16(clamping: frame.size.width), height: UInt16(clamping: frame.size.height))])
  }
}
