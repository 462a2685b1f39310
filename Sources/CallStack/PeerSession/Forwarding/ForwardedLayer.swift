internal import CallCore
internal import RTP

/// The temporal layer of a forwarded frame, as its payload gives it.
package struct ForwardedLayer: Hashable, Sendable {
  /// The number of the layer; 0 for the base.
  package let index: Int
  /// Whether a receiver of the layers below can begin to decode this layer here.
  package let isSwitchPoint: Bool

  /// The layer of a stream without layers, or of a payload that does not give one.
  static let base = ForwardedLayer(index: 0, isSwitchPoint: true)

  init(index: Int, isSwitchPoint: Bool) {
    self.index = index
    self.isSwitchPoint = isSwitchPoint
  }

  /// Reads the layer of a payload.
  ///
  /// - Returns: nil for a payload that does not give it, and for one of H.264, whose layers are only in its bit stream.
  init?(_ video: VideoPayload, of payload: RawSpan) {
    switch video.descriptor {
    case .vp8(let descriptor):
      guard let layer = descriptor.temporalLayer else { return nil }
      self.init(index: Int(layer), isSwitchPoint: descriptor.isLayerSync)
    case .vp9(let descriptor):
      guard let layer = descriptor.layer else { return nil }
      self.init(index: Int(layer.temporal), isSwitchPoint: layer.isSwitchingUpPoint)
    case .av1:
      guard let layer = AV1Payload.temporalLayer(of: payload) else { return nil }
      // In L1T2 and L1T3, no frame refers to an upper layer from before the last base frame (AV1 section 6.7.5).
      self.init(index: Int(layer), isSwitchPoint: true)
    case .generic(let descriptor):
      guard let layer = descriptor.layer else { return nil }
      self.init(index: Int(layer.index), isSwitchPoint: layer.isSync)
    case .h264: return nil
    }
  }
}
