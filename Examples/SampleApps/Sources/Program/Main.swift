import CallSimCommand
import ConnectyCubeSample
import KnotosSample
import TwilioSample
import VonageSample

@main
enum Main {
  static func main() {
    CallSimProgram.run(profiles: [.connectyCubeSample, .knotosSample, .twilioSample, .vonageSample])
  }
}
