/// Finds the name that was probably meant.
public enum NearestName {
  /// The one of `names` that is nearest to `text` and at most a third of its length (at least 2 letters) away; nil: none is near.
  public static func nearest(to text: String, among names: [String]) -> String? {
    guard text.utf8.count <= 64 else { return nil }
    let allowed = max(2, text.utf8.count / 3)
    let best = names.map { ($0, distance(Array($0.utf8), Array(text.utf8))) }.min { $0.1 < $1.1 }
    guard let best, best.1 <= allowed else { return nil }
    return best.0
  }

  /// "; did you mean "x"?", or the list of `names` when none is near.
  public static func hint(for text: String, among names: [String]) -> String {
    nearest(to: text, among: names).map { "; did you mean \"\($0)\"?" } ?? "; there are: \(names.joined(separator: ", "))"
  }

  /// How many letters must be added, removed or changed (Levenshtein).
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (leftIndex, leftByte) in left.enumerated() {
      var diagonal = row[0]
      row[0] = leftIndex + 1
      for (rightIndex, rightByte) in right.enumerated() {
        let changed = diagonal + (leftByte == rightByte ? 0 : 1)
        diagonal = row[rightIndex + 1]
        row[rightIndex + 1] = min(changed, row[rightIndex] + 1, diagonal + 1)
      }
    }
    return row[right.count]
  }
}
