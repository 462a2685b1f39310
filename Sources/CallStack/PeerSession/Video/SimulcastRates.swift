internal import CallCore
internal import Pictures

/// The rates of an encoding for its size, libwebrtc's figures (`simulcast.cc`, `encoder_stream_factory.cc`).
struct SimulcastRates {
  let minimum: DataRate
  let target: DataRate
  let maximum: DataRate

  private static let table: [(pixels: Int, kilobits: (minimum: Int64, target: Int64, maximum: Int64))] = [
    (1_920 * 1_080, (800, 4_000, 5_000)), (1_280 * 720, (600, 2_500, 2_500)), (960 * 540, (350, 1_200, 1_200)),
    (640 * 360, (150, 500, 700)), (480 * 270, (150, 350, 450)), (320 * 180, (30, 150, 200)),
  ]
  /// Smaller pictures.
  private static let smallest: (minimum: Int64, target: Int64, maximum: Int64) = (30, 150, 200)

  /// Returns the rates of one encoding of a simulcast.
  static func of(_ size: PictureSize) -> SimulcastRates {
    let figures = table.first { size.pixelCount >= $0.pixels }?.kilobits ?? smallest
    return SimulcastRates(
      minimum: .kilobitsPerSecond(figures.minimum), target: .kilobitsPerSecond(figures.target),
      maximum: .kilobitsPerSecond(figures.maximum))
  }

  /// Returns the maximum rate of a single encoding.
  static func single(_ size: PictureSize) -> DataRate {
    switch size.pixelCount {
    case ...(320 * 240): .kilobitsPerSecond(600)
    case ...(640 * 480): .kilobitsPerSecond(1_700)
    case ...(960 * 540): .kilobitsPerSecond(2_000)
    default: .kilobitsPerSecond(2_500)
    }
  }
}
