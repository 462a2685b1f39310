import CallSimCommand

@main
enum Main {
  static func main() { CallSimProgram.run(profiles: ProfileCatalogue.builtIn.profiles) }
}
