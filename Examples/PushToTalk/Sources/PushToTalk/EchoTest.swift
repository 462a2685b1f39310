import CallSim

/// A call to the echo service: what the user says comes back.
final class EchoTest {
  private let environment: PeerEnvironment
  private let link: Link
  private let echo: Member

  init(_ environment: PeerEnvironment) {
    self.environment = environment
    environment.device.configureAudioSession(category: .playAndRecord, mode: .voiceChat, options: [])
    environment.device.setAudioSessionActive(true)
    link = Link(to: "echo", environment, number: 1)
    echo = Member("echo", environment, link)
    echo.connection.setTrackEnabled(true)
    echo.offer()
    environment.tasks.start { [link, echo] in
      for await message in link.messages { echo.received(message) }
    }
  }

  func end() {
    echo.connection.close()
    link.close()
    environment.device.setAudioSessionActive(false)
  }
}
