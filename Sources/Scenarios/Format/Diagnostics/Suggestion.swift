import CallCore

/// Suggestions of the nearest known names for an unknown one.
public enum Suggestion {
  /// Common words of other tools, with the name in this format, which edit distance would not find.
  private static let synonyms: [(word: String, name: String)] = [
    ("between", "window"), ("window", "between"), ("duration", "for"), ("avg", "mean"), ("average", "mean"),
    ("median", "p50"), ("latency", "delay"), ("bandwidth", "rate"), ("mapping", "map"), ("filtering", "filter"),
    ("media", "media-both-ways"),
  ]

  /// Returns the nearest name, when a synonym or a typing mistake explains the difference.
  static func nearest(to name: String, among legal: [String]) -> String? {
    if let meant = synonyms.first(where: { $0.word == name })?.name, legal.contains(meant) { return meant }
    let wanted = Array(name.lowercased().unicodeScalars)
    guard wanted.count <= 80 else { return nil }
    var best: (name: String, distance: Int)?
    for candidate in legal {
      let letters = Array(candidate.lowercased().unicodeScalars)
      let length = max(letters.count, wanted.count)
      // Two letters are too few: 5% is not a typing mistake for 0%.
      let allowed = length <= 2 ? 0 : max(1, length / 3)
      guard abs(letters.count - wanted.count) <= allowed else { continue }
      let distance = editDistance(wanted, letters)
      if distance <= allowed, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.name
  }

  /// Returns up to three names that contain the word: `local-hangup` and `remote-hangup` for `hangup`.
  private static func names(with word: String, among legal: [String]) -> [String] {
    let found = legal.filter { $0.split { ".-/".contains($0) }.contains { $0 == word } }.inOrderOfAppearance
    return word.count > 2 && found.count <= 3 ? found : []
  }

  /// Returns `did you mean 'x'?`, else the list of names if it has at most ten, else nil.
  public static func hint(for name: String, among legal: [String], noun: String = "") -> String? {
    if let near = nearest(to: name, among: legal) { return "did you mean '\(near)'?" }
    let whole = names(with: name, among: legal)
    if !whole.isEmpty { return "did you mean \(whole.map { "'\($0)'" }.joined(separator: " or "))?" }
    let legal = legal.inOrderOfAppearance
    guard !legal.isEmpty, legal.count <= 10 else { return nil }
    return (noun.isEmpty ? "one of: " : "\(noun): ") + legal.joined(separator: ", ")
  }

  /// Returns the edit distance with swaps of neighbours (optimal string alignment): `dwon` is one step from `down`.
  private static func editDistance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in 0..<a.count {
      var row = [i + 1]
      row.reserveCapacity(b.count + 1)
      for j in 0..<b.count {
        var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforeLast[j - 1] + 1) }
        row.append(cost)
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }
}
