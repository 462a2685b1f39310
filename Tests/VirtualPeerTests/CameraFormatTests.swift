import CallCore
import Testing
import Vocabulary

@testable import VirtualPeer

/// The formats of a device's cameras, and the choice among them.
@Suite struct CameraFormatTests {
  static let formats = [
    CameraFormat(width: 192, height: 144, frameRate: 30), CameraFormat(width: 640, height: 480, frameRate: 60),
    CameraFormat(width: 960, height: 540, frameRate: 24),
  ]

  @Test(
    arguments: [
      ((640, 480, 30), "640x480@30"), ((600, 400, 60), "640x480@60"), ((1_280, 720, 30), "960x540@24"),
      ((16, 16, 10), "192x144@10"),
    ] as [((Int, Int, Int), String)])
  func `the nearest size is chosen, with no more pictures than are wanted`(wanted: (Int, Int, Int), chosen: String) {
    let format = CameraFormat(width: wanted.0, height: wanted.1, frameRate: wanted.2)
    #expect(format.nearest(among: Self.formats).text == chosen)
  }

  @Test func `a camera without formats gives what is wanted`() {
    let wanted = CameraFormat(width: 640, height: 480, frameRate: 30)
    #expect(wanted.nearest(among: []) == wanted)
  }

  @Test func `each camera has its own formats, and the app's own pictures have none`() {
    var settings = Device.Settings()
    settings.backCameraFormats = Self.formats
    (settings.hasVideo, settings.camera) = (true, .movingBars)
    let device = Device(settings: settings, trace: Trace(), peer: "alice")
    let wanted = CameraFormat(width: 1_280, height: 720, frameRate: 30)
    #expect(device.cameraFormats(of: .front) == [] && device.cameraFormats(of: .back) == Self.formats)
    #expect(device.captureFormat(for: wanted) == wanted)
    #expect(device.switchCamera())
    #expect(device.captureFormat(for: wanted).text == "960x540@24")
    device.usesCustomCapturer = true
    #expect(device.captureFormat(for: wanted) == wanted)
  }
}
