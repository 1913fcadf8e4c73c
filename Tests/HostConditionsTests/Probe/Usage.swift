/// A word that the probe does not know.
struct Usage: Error, CustomStringConvertible {
  let description: String

  init(_ word: String) { description = "unknown: \(word)" }
}
