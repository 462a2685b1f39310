package import PeerSession
package import SCTP

/// Data channels on real sockets.
extension LiveConnection {
  /// The channels that are not closed, in order of creation.
  package var dataChannels: [DataChannelSnapshot] { driver.session.dataChannels }

  /// Creates a channel (W3C `createDataChannel`).
  package func createDataChannel(
    _ label: String, _ settings: DataChannelInit = DataChannelInit()
  ) throws(SessionError) -> DataChannelID {
    try driver.perform { session, now throws(SessionError) in
      try session.createDataChannel(label, settings, at: now)
    }
  }

  /// Sends a message on an open channel (W3C `send`).
  package func send(_ message: DataChannelMessage, on channel: DataChannelID) throws(SessionError) {
    try driver.perform { session, now throws(SessionError) in try session.send(message, on: channel, at: now) }
  }

  /// Closes a channel after everything was sent (W3C `close`).
  package func closeDataChannel(_ channel: DataChannelID) {
    driver.perform { session, now in session.closeDataChannel(channel, at: now) }
  }
}
