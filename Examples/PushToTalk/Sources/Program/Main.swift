import CallSimCommand
import PushToTalk

@main
enum Main {
  static func main() { CallSimProgram.run(profiles: [.pushToTalk] + ProfileCatalogue.builtIn.profiles) }
}
