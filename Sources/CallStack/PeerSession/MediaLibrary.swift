internal import CallCore
internal import Codecs
internal import DTLS

/// A library of the media path, with its linked version.
public struct MediaLibrary: Sendable, Hashable {
  /// The library's name.
  public let name: String
  /// The library's version, as the library states it.
  public let version: String

  /// Whether DTLS timers follow virtual time in this process.
  package static var readsVirtualClock: Bool { VirtualClockCheck.remainingAfter400Milliseconds() == .milliseconds(600) }

  /// The libraries in use. Output of codecs and ciphers may differ between versions, so every run names them.
  public static var all: [MediaLibrary] {
    [
      MediaLibrary(name: "OpenSSL", version: DTLSTransport.libraryVersion),
      MediaLibrary(name: "libopus", version: number(CodecLibraries.opusVersion)),
      MediaLibrary(name: "libvpx", version: number(CodecLibraries.vpxVersion)),
      MediaLibrary(name: "libaom", version: number(CodecLibraries.aomVersion)),
      MediaLibrary(name: "dav1d", version: number(CodecLibraries.dav1dVersion)),
    ]
  }

  /// Returns the number alone of `libopus 1.3.1` or `v1.12.0`.
  private static func number(_ text: String) -> String {
    let last = text.split(separator: " ").last ?? ""
    return String(last.first == "v" ? last.dropFirst() : last)
  }
}
