package import CallCore
internal import DTLS
package import PeerSession

extension SessionConfiguration {
  /// Returns the configuration of a live call: a new certificate, keys from OpenSSL's generator and the machine's date.
  package static func live(wallClock: WallClock, random: RandomSource) -> SessionConfiguration {
    var names = random.stream("cname")
    // A short-term persistent RTCP CNAME (RFC 7022 section 4.2): 96 random bits.
    let cname = String(names.next(), radix: 36) + String(names.next() >> 32, radix: 36)
    var configuration = SessionConfiguration(
      certificate: .generate(name: "WebRTC", entropy: .system, wallClock: wallClock), cname: cname)
    configuration.wallClock = wallClock
    return configuration
  }
}

extension RandomSource {
  /// A source of the operating system's random numbers.
  package static var system: RandomSource {
    RandomSource {
      var generator = SystemRandomNumberGenerator()
      return generator.next()
    }
  }
}
