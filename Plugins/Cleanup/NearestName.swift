/// Finds the name that was probably meant.
enum NearestName {
  /// The candidate with the fewest edits (insert, delete, replace) to `name`; nil when none is within a third of its length, at least 2.
  static func of(_ name: String, in candidates: some Sequence<String>) -> String? {
    let wanted = Array(name.utf8.prefix(64))
    let best = candidates.map { (name: $0, edits: edits(wanted, Array($0.utf8))) }.min { $0.edits < $1.edits }
    guard let best, best.edits <= max(2, wanted.count / 3) else { return nil }
    return best.name
  }

  /// The Levenshtein distance, one row at a time.
  private static func edits(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (i, byte) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in right.enumerated() {
        let replaced = diagonal + (byte == other ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(replaced, diagonal + 1, row[j] + 1)
      }
    }
    return row[right.count]
  }
}
