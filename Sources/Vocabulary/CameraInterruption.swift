/// Why the system takes the camera from an app (`AVCaptureSession.InterruptionReason`), with its raw values in order.
public enum CameraInterruption: String, Sendable, CaseIterable {
  case background
  case audioInUse = "audio-in-use"
  case videoInUse = "video-in-use"
  case multipleApps = "multiple-apps"
  case systemPressure = "system-pressure"
  case sensitiveContent = "sensitive-content"
}

/// The place of a camera on a device.
public enum CameraPosition: String, Sendable, CaseIterable { case front, back }
