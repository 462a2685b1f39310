import Glibc

/// Seconds of processor time this process has used: what others on the machine do counts only as colder caches.
func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Processor seconds that `body` takes.
func cost(of body: () throws -> Void) rethrows -> Double {
  let begin = processorSeconds()
  try body()
  return processorSeconds() - begin
}

/// The processor's model, and how many of them there are.
func processorName() -> String {
  var name = "unknown processor"
  if let file = fopen("/proc/cpuinfo", "r") {
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 512)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if text.hasPrefix("model name"), let colon = text.firstIndex(of: ":") {
        name = String(text[colon...].dropFirst(2))
        break
      }
    }
  }
  return "\(name), \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) cores"
}
