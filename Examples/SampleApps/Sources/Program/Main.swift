import CallSimCommand
import TwilioSample

@main
enum Main {
  static func main() { CallSimProgram.run(profiles: [.twilioSample]) }
}
