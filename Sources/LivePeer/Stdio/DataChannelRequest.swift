internal import Digests
internal import Formats
internal import PeerSession
internal import SCTP

/// The methods of the peer protocol about data channels.
enum DataChannelRequest {
  static let methods: Set = ["createDataChannel", "sendData", "closeDataChannel"]

  static func perform(_ request: PeerRequest, on connection: LiveConnection) throws -> JSON {
    switch request.method {
    case "createDataChannel":
      let channel = try connection.createDataChannel(
        request.params.string("label"), settings(in: request.params))
      return ["channel": .string(channel.name)]
    case "sendData": try connection.send(message(in: request.params), on: channel(in: request.params))
    default: connection.closeDataChannel(try channel(in: request.params))
    }
    return [:]
  }

  private static func settings(in params: PeerDictionary) throws(PeerError) -> DataChannelInit {
    var settings = DataChannelInit()
    if params["ordered"] != nil { settings.ordered = try params.bool("ordered") }
    if params["negotiated"] != nil { settings.negotiated = try params.bool("negotiated") }
    settings.maxPacketLifeTime = try params.optionalUnsignedShort("maxPacketLifeTime").map { UInt16(clamping: $0) }
    settings.maxRetransmits = try params.optionalUnsignedShort("maxRetransmits").map { UInt16(clamping: $0) }
    settings.protocolName = try params.optionalString("protocol") ?? ""
    settings.id = try params.optionalUnsignedShort("id").map { UInt16(clamping: $0) }
    return settings
  }

  private static func channel(in params: PeerDictionary) throws(PeerError) -> DataChannelID {
    let name = try params.string("channel")
    guard let channel = DataChannelID(name: name) else {
      throw PeerError(.invalidAccess, "there is no data channel \(name)")
    }
    return channel
  }

  private static func message(in params: PeerDictionary) throws(PeerError) -> DataChannelMessage {
    if let text = try params.optionalString("text") { return .string(text) }
    guard let encoded = try params.optionalString("binary") else {
      throw PeerError(.typeError, "sendData wants 'text', or 'binary' in base64")
    }
    guard let bytes = Base64.decode(encoded) else { throw PeerError(.typeError, "'binary' is not base64") }
    return .binary(bytes)
  }
}
