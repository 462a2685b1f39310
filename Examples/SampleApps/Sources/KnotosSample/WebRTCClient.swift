import CallSim

protocol WebRTCClientDelegate: AnyObject {
  func webRTCClient(_ client: WebRTCClient, didDiscover candidate: String, mid: String?, mLineIndex: Int?)
  func webRTCClient(_ client: WebRTCClient, didChange state: ConnectionState)
}

/// The peer connection of a call with its track, as the guide has it.
final class WebRTCClient: PeerConnectionDelegate {
  private let device: Device
  private let connection: any PeerConnection
  weak var delegate: (any WebRTCClientDelegate)?
  var hasRemoteDescription: Bool { connection.hasRemoteDescription }

  init(_ environment: PeerEnvironment) throws(SessionError) {
    device = environment.device
    // The audio session comes first: a device is silent otherwise.
    device.configureAudioSession(
      category: .playAndRecord, mode: .voiceChat, options: [.allowBluetooth, .allowBluetoothA2DP])
    device.setAudioSessionActive(true)
    connection = environment.connections.make()
    connection.delegate = self
    try connection.addTrack()
  }

  func offer() throws(SessionError) -> String {
    let offer = try connection.createOffer()
    try connection.setLocalDescription(offer)
    return offer.sdp
  }

  func answer() throws(SessionError) -> String {
    let answer = try connection.createAnswer()
    try connection.setLocalDescription(answer)
    return answer.sdp
  }

  func set(remoteSdp description: SessionDescriptionText) throws(SessionError) {
    try connection.setRemoteDescription(description)
  }

  func set(remoteCandidate candidate: JSON) throws(SessionError) {
    try connection.addICECandidate(
      candidate["candidate"]?.string, mid: candidate["sdpMid"]?.string,
      mLineIndex: candidate["sdpMLineIndex"]?.integer.map { Int(clamping: $0) })
  }

  func close() {
    connection.close()
    device.setAudioSessionActive(false)
  }

  func connection(_ connection: any PeerConnection, did event: SessionEvent) {
    switch event {
    case .iceCandidate(let candidate?, let mid, let index):
      delegate?.webRTCClient(self, didDiscover: candidate, mid: mid, mLineIndex: index)
    case .connectionStateChange(let state): delegate?.webRTCClient(self, didChange: state)
    default: break
    }
  }
}
