internal import CallCore

/// The discrete Fourier transform of real signals whose length is a power of two.
struct FourierTransform {
  let size: Int
  /// The real and imaginary parts of the roots of unity e^(-2πik/size), for k below half the size.
  private let cosines: [Double]
  private let sines: [Double]
  /// The indices in bit-reversed order.
  private let order: [Int]
  private var real: [Double]
  private var imaginary: [Double]

  init(size: Int) {
    precondition(size > 1 && size & (size - 1) == 0, "\(size) is no power of two")
    self.size = size
    let roots = (0..<size / 2).map { ElementaryFunctions.cosineAndSine(turns: Double($0) / Double(size)) }
    cosines = roots.map(\.cosine)
    sines = roots.map { -$0.sine }
    var order = [0]
    while order.count < size { order = order.map { 2 * $0 } + order.map { 2 * $0 + 1 } }
    self.order = order
    real = Array(repeating: 0, count: size)
    imaginary = real
  }

  /// Returns the squared magnitudes of bins 0 through half the size, of a signal that zeros complete.
  mutating func power(of signal: [Double]) -> [Double] {
    for index in 0..<size {
      real[index] = order[index] < signal.count ? signal[order[index]] : 0
      imaginary[index] = 0
    }
    var half = 1
    while half < size {
      combine(half)
      half *= 2
    }
    return (0...size / 2).map { (bin: Int) -> Double in real[bin] * real[bin] + imaginary[bin] * imaginary[bin] }
  }

  /// Makes transforms of twice the length from pairs of transforms with the length `half`.
  private mutating func combine(_ half: Int) {
    let step = size / (2 * half)
    for start in stride(from: 0, to: size, by: 2 * half) {
      for index in 0..<half {
        let (upper, lower) = (start + index, start + index + half)
        let (c, s) = (cosines[index * step], sines[index * step])
        let re = real[lower] * c - imaginary[lower] * s
        let im = real[lower] * s + imaginary[lower] * c
        real[lower] = real[upper] - re
        imaginary[lower] = imaginary[upper] - im
        real[upper] += re
        imaginary[upper] += im
      }
    }
  }
}
