/// Finds the word that was probably meant.
enum NearestWord {
  /// "; did you mean x?", or the list of `words` when none is near; empty when there are none.
  static func hint(for text: String, among words: [String]) -> String {
    if let nearest = nearest(to: text, among: words) { return "; did you mean \(nearest)?" }
    return words.isEmpty ? "" : "; there are: \(words.joined(separator: ", "))"
  }

  /// The one of `words` that is nearest to `text` and at most a third of its length (at least 1 letter) away; nil: none is near.
  static func nearest(to text: String, among words: [String]) -> String? {
    guard text.utf8.count <= TypedSignature.maximumNameBytes else { return nil }
    let allowed = max(1, text.utf8.count / 3)
    let best = words.map { ($0, distance(Array($0.utf8), Array(text.utf8))) }.min { $0.1 < $1.1 }
    guard let best, best.1 <= allowed else { return nil }
    return best.0
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
