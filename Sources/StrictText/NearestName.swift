/// Finds the existing name that a mistyped name probably means.
public enum NearestName {
  /// The maximum length of a text in bytes; a longer one is not a mistyped name.
  private static let longest = 64

  /// The closest of `names` by letters to add, remove or change, if it is close enough to be meant; the first of equally close names.
  ///
  /// `slips` letters may differ, or a third of the text's letters if that is more, but never all of them. Case is ignored.
  public static func nearest(to text: String, among names: [String], slips: Int = 2) -> String? {
    guard text.utf8.count <= longest else { return nil }
    let allowed = min(max(slips, text.unicodeScalars.count / 3), text.unicodeScalars.count - 1)
    let best = names.map { ($0, distance(text.lowercased(), $0.lowercased())) }.min { $0.1 < $1.1 }
    guard let best, best.1 <= allowed else { return nil }
    return best.0
  }

  /// A suggestion such as `; did you mean "x"?`, or the list of `names` if none is close; empty if `names` is empty.
  ///
  /// - Parameter quote: The text on both sides of the suggested name.
  public static func hint(for text: String, among names: [String], quote: String = "\"", slips: Int = 2) -> String {
    if let nearest = nearest(to: text, among: names, slips: slips) { return "; did you mean \(quote)\(nearest)\(quote)?" }
    return names.isEmpty ? "" : "; there are: \(names.joined(separator: ", "))"
  }

  /// The number of Unicode scalars to add, remove or change to turn `first` into `second` (Levenshtein).
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
