import CallSimCommand
import KnotosSample
import TwilioSample
import VonageSample

@main
enum Main {
  static func main() { CallSimProgram.run(profiles: [.knotosSample, .twilioSample, .vonageSample]) }
}
