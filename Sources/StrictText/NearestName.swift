/// Finds the name that was probably meant by one that does not exist.
public enum NearestName {
  /// Bytes of a text beyond which nobody has merely slipped.
  private static let longest = 64

  /// The one of `names` with the fewest letters added, removed or changed, if they are few enough to be a slip; of several the first.
  ///
  /// A third of the text's letters may differ, or `slips` where that is more, but never all of them. Upper and lower
  /// case are the same.
  public static func nearest(to text: String, among names: [String], slips: Int = 2) -> String? {
    guard text.utf8.count <= longest else { return nil }
    let allowed = min(max(slips, text.unicodeScalars.count / 3), text.unicodeScalars.count - 1)
    let best = names.map { ($0, distance(text.lowercased(), $0.lowercased())) }.min { $0.1 < $1.1 }
    guard let best, best.1 <= allowed else { return nil }
    return best.0
  }

  /// "; did you mean "x"?", or the list of `names` when none is near; empty when there are none.
  ///
  /// - Parameter quote: What stands on both sides of the name that was meant.
  public static func hint(for text: String, among names: [String], quote: String = "\"", slips: Int = 2) -> String {
    if let nearest = nearest(to: text, among: names, slips: slips) { return "; did you mean \(quote)\(nearest)\(quote)?" }
    return names.isEmpty ? "" : "; there are: \(names.joined(separator: ", "))"
  }

  /// How many letters, Unicode scalars, must be added, removed or changed to make `first` into `second` (Levenshtein).
  static func distance(_ first: String, _ second: String) -> Int {
    let (first, second) = (Array(first.unicodeScalars), Array(second.unicodeScalars))
    var row = Array(0...second.count)
    for (index, scalar) in first.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in second.indices {
        let changed = diagonal + (scalar == second[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(changed, diagonal + 1, row[column] + 1)
      }
    }
    return row[second.count]
  }
}
