/// The section of data channels of a session, which has at most one (RFC 9429 §5.2.1).
struct DataSection {
  /// The negotiated place, which a rollback restores.
  struct Association: Hashable {
    var mid: String?
    var mLineIndex: Int?
  }

  /// Whether the application has channels, so that an offer without a section gets one.
  var isWanted = false
  var association = Association()
  /// The association of the last stable state.
  var stable = Association()

  /// Whether an offer describes the section.
  var isOffered: Bool { isWanted || stable.mLineIndex != nil }

  /// Forgets a section that was rejected; a later channel may ask for another.
  mutating func reject() {
    isWanted = false
    association = Association()
  }
}

extension JSEPSession {
  /// Whether the application has asked for data channels, and none of its requests was rejected since.
  package var wantsData: Bool { dataSection.isWanted }

  /// Asks for a section of data channels in the next offer (RFC 9429 §5.2.1).
  package mutating func addData() throws(JSEPError) {
    try requireOpen()
    guard configuration.data != nil else { throw .dataUnsupported }
    dataSection.isWanted = true
  }

  /// Associates the first section of data channels in a remote offer, unless one is in use.
  mutating func associateData(_ offer: SessionDescription) {
    guard configuration.data != nil else { return }
    if let index = dataSection.association.mLineIndex, !offer.media[index].isRejected { return }
    let index = offer.media.firstIndex { !$0.isRejected && $0.sctp != nil }
    dataSection.association = DataSection.Association(
      mid: index.map { offer.media[$0].mid ?? "unnamed-\($0)" }, mLineIndex: index)
  }

  /// Takes the result of an answer.
  mutating func applyData(_ pair: DescriptionPair, isFinal: Bool) {
    data = nil
    // A remote offer without the section has ended it.
    guard let index = dataSection.association.mLineIndex, let mid = dataSection.association.mid else {
      if isFinal, !pair.isLocalOffer, dataSection.stable.mLineIndex != nil { dataSection.reject() }
      return
    }
    data = pair.data(at: index, mid: mid)
    if data == nil, isFinal { dataSection.reject() }
  }

  /// Checks that an answer accepts the section of data channels with an association.
  func checkDataAnswer(_ pair: DescriptionPair) throws(JSEPError) {
    guard let index = dataSection.association.mLineIndex, pair.answer.media[index].port != 0,
      pair.answer.media[index].sctp == nil
    else { return }
    throw .unusableDataSection(mLineIndex: index)
  }
}
