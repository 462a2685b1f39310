/// The temporal layers of an encoder that chooses them itself, as OpenH264 does: a frame depends on the latest frame of
/// the lower layers, one of layer 0 on the one before it (`L1T2` and `L1T3` of WebRTC-SVC).
struct HierarchicalLayers {
  private var number: UInt32 = 0
  private var baseIndex: UInt8 = 255
  /// The number of the latest frame in each layer since the last key frame.
  private var latest: [UInt32?] = [nil, nil, nil, nil]

  /// Records a frame that was coded, and describes it.
  ///
  /// - Parameter count: the number of layers.
  mutating func coded(layer id: Int, isKeyFrame: Bool, count: Int) -> (number: UInt32, layer: TemporalLayer) {
    let id = isKeyFrame ? 0 : min(max(0, id), latest.count - 1)
    if isKeyFrame { latest = [nil, nil, nil, nil] }
    if id == 0 { baseIndex &+= 1 }
    let candidates = id == 0 ? latest[..<1] : latest[..<id]
    let distance = candidates.compactMap { $0.map { number &- $0 } }.min()
    let reference = candidates.firstIndex { $0.map { number &- $0 } == distance }
    let layer = TemporalLayer(
      id: id, isSync: isKeyFrame || id > 0 && reference == 0, baseIndex: baseIndex,
      isDiscardable: count > 1 && id == count - 1, dependencies: isKeyFrame ? [] : distance.map { [$0] } ?? [])
    latest[id] = number
    defer { number &+= 1 }
    return (number, layer)
  }
}
