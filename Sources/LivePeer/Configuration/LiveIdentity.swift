package import CallCore
package import CallSession
internal import DTLS

extension SessionConfiguration {
  /// For a call of this machine: a certificate of its own, keys from OpenSSL's generator, and the machine's date.
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
  /// The operating system's random numbers, every draw anew.
  package static var system: RandomSource {
    RandomSource {
      var generator = SystemRandomNumberGenerator()
      return generator.next()
    }
  }
}
