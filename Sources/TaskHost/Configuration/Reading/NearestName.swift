/// Finds what somebody meant who mistyped a name.
enum NearestName {
  /// The known name with the fewest insertions, deletions and replacements away from `name`, if they are few enough to be a slip: a third of
  /// its characters, at least two.
  static func suggestion(for name: String, among known: [String]) -> String? {
    let limit = max(2, name.count / 3)
    return known.map { ($0, distance(name.lowercased(), $0)) }.filter { $0.1 <= limit && $0.1 < name.count }.min { $0.1 < $1.1 }?.0
  }

  /// The Levenshtein distance.
  static func distance(_ first: String, _ second: String) -> Int {
    let (first, second) = (Array(first.unicodeScalars), Array(second.unicodeScalars))
    var row = Array(0...second.count)
    for (index, scalar) in first.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in second.indices {
        let replaced = diagonal + (scalar == second[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
      }
    }
    return row[second.count]
  }
}
