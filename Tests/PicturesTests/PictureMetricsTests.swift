import Pictures
import Testing

@Suite struct PictureMetricsTests {
  struct Golden: Sendable {
    let width: Int
    let height: Int
    /// The noisy texture and the chessboard, each against the texture: PSNR in dB and SSIM.
    let noisy: (psnr: Double, ssim: Double)
    let other: (psnr: Double, ssim: Double)
  }

  /// Made with scikit-image 0.26.0 and numpy from the same formulas for the samples: `peak_signal_noise_ratio(p, q,
  /// data_range=255)` and `structural_similarity(p, q, gaussian_weights=True, sigma=1.5, use_sample_covariance=False,
  /// data_range=255)`.
  static let golden = [
    Golden(
      width: 64, height: 48, noisy: (26.66829147145386, 0.9651906981152492),
      other: (11.481230446431589, 0.09398911416001859)),
    Golden(
      width: 33, height: 40, noisy: (26.699306633983323, 0.9568146501165582),
      other: (11.787982510336432, 0.16151300344481498)),
    Golden(
      width: 11, height: 11, noisy: (26.889589382534965, 0.9039382742413439),
      other: (13.825881866287965, 0.3734247725017674)),
  ]

  @Test(arguments: golden)
  func `metrics agree with those of scikit-image`(golden: Golden) throws {
    let size = try #require(PictureSize(golden.width, golden.height))
    let reference = VideoFrame.texture(size)
    for (picture, wanted) in [(VideoFrame.noisyTexture(size), golden.noisy), (.chessboard(size), golden.other)] {
      #expect(abs(try PSNR.luma(reference, picture) - wanted.psnr) < 1e-9)
      #expect(abs(try SSIM.gauss11(reference, picture) - wanted.ssim) < 1e-9)
    }
  }

  @Test func `equal pictures have the best values`() throws {
    let picture = VideoFrame.texture(.qqvga)
    #expect(try PSNR.luma(picture, picture) == .infinity)
    #expect(try PSNR.meanSquaredError(picture, picture) == 0)
    #expect(try abs(SSIM.gauss11(picture, picture) - 1) < 1e-12)
  }

  @Test func `one step of difference everywhere is 48 decibels`() throws {
    let (a, b) = (VideoFrame(filled: .qqvga, luma: 100), VideoFrame(filled: .qqvga, luma: 101))
    #expect(try abs(PSNR.luma(a, b) - 48.130803608679) < 1e-9)
  }

  @Test func `colour does not count`() throws {
    let (a, b) = (VideoFrame(filled: .qqvga), VideoFrame(filled: .qqvga, u: 0, v: 255))
    #expect(try PSNR.luma(a, b) == .infinity)
  }

  @Test func `pictures of different sizes are not compared`() throws {
    let (a, b) = (VideoFrame(filled: .vga), VideoFrame(filled: .qvga))
    #expect(throws: PictureError.sizesDiffer(.vga, .qvga)) { try PSNR.luma(a, b) }
    #expect(throws: PictureError.sizesDiffer(.vga, .qvga)) { try SSIM.gauss11(a, b) }
    let small = try #require(PictureSize(40, 10))
    #expect(throws: PictureError.tooSmall(small, minimumSide: 11)) {
      try SSIM.gauss11(VideoFrame(filled: small), VideoFrame(filled: small))
    }
  }
}
