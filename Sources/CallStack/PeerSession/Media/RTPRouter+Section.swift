internal import RTP
internal import SDP

extension RTPRouter.Section {
  /// Makes the section from the result of its negotiation.
  init(_ media: NegotiatedMedia) {
    let retransmissions = media.remoteSources.compactMap(\.retransmission)
    let repairs = media.remoteSources.compactMap(\.repair)
    let flexFEC = RepairFormats(media.receiveHelpers).flexFEC
    self.init(
      mid: Array(media.mid.utf8),
      payloadTypes: (media.receiveCodecs + media.receiveHelpers).map(\.payloadType).filter { $0 != flexFEC },
      sources: media.remoteSources.map { source in
        RTPRouter.Source(
          source.ssrc,
          role: retransmissions.contains(source.ssrc)
            ? .retransmission : repairs.contains(source.ssrc) ? .repair : .media)
      })
    retransmissionPayloadTypes = (media.receiveCodecs + media.receiveHelpers).compactMap(\.retransmissionPayloadType)
    repairPayloadTypes = flexFEC.map { [$0] } ?? []
    rids = media.receiveEncodings.compactMap { $0.rid.map { Array($0.utf8) } }
  }
}
