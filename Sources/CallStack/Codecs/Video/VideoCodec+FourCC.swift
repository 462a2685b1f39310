extension VideoCodec {
  /// The four characters by which files name the codec; nil for a modelled one.
  package var fourCC: String? {
    switch self {
    case .vp8: "VP80"
    case .vp9: "VP90"
    case .h264: "H264"
    case .av1: "AV01"
    case .synthetic: nil
    }
  }

  /// Finds the codec that files name by four characters.
  package init?(fourCC: String) {
    guard let codec = Self.allCases.first(where: { $0.fourCC == fourCC }) else { return nil }
    self = codec
  }
}
