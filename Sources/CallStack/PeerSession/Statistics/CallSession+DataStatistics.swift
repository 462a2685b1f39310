internal import CallCore
internal import SCTP
internal import Statistics

/// The entries of `getStats` about data channels.
extension CallSession {
  /// The numbers of channels since the session was made (W3C `RTCPeerConnectionStats`).
  var dataChannelCounts: (opened: Int, closed: Int) {
    let statistics = data?.sctp.statistics
    return (
      pastData.opened + (statistics?.dataChannelsOpened ?? 0), pastData.closed + (statistics?.dataChannelsClosed ?? 0)
    )
  }

  /// The SCTP transport once it has begun, and the channels that are not closed.
  var dataStatistics: [StatsReport.Entry] {
    guard let data else { return [] }
    let transport = data.isStarted ? [Self.entry(of: data.sctp.statistics)] : []
    return transport
      + data.sctp.channelIDs.compactMap { id in data.sctp.statistics(of: id).map { Self.entry(of: $0, id) } }
  }

  /// Returns W3C's `RTCSctpTransportStats`.
  private static func entry(of statistics: SCTPTransportStatistics) -> StatsReport.Entry {
    var members = StatsMembers()
    members.add("transportId", "T")
    members.add("smoothedRoundTripTime", statistics.smoothedRoundTripTime?.seconds)
    members.add("congestionWindow", Int64(statistics.congestionWindow))
    members.add("receiverWindow", Int64(statistics.receiverWindow))
    members.add("mtu", Int64(statistics.mtu))
    members.add("unackData", Int64(statistics.unackData))
    return StatsReport.Entry(id: "SCTP", type: "sctp-transport", members: members.all)
  }

  /// Returns W3C's `RTCDataChannelStats`.
  private static func entry(of statistics: DataChannelStatistics, _ id: DataChannelID) -> StatsReport.Entry {
    var members = StatsMembers()
    members.add("label", statistics.label)
    members.add("protocol", statistics.protocolName)
    members.add("dataChannelIdentifier", statistics.dataChannelIdentifier.map(Int64.init))
    members.add("state", statistics.state.rawValue)
    members.add("messagesSent", Int64(statistics.messagesSent))
    members.add("bytesSent", Int64(statistics.bytesSent))
    members.add("messagesReceived", Int64(statistics.messagesReceived))
    members.add("bytesReceived", Int64(statistics.bytesReceived))
    return StatsReport.Entry(id: "D\(id.rawValue)", type: "data-channel", members: members.all)
  }
}
