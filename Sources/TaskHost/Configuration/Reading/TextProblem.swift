/// A problem of a text, worded as a clause that follows the name of a file or key.
struct TextProblem: Error, Sendable, Equatable {
  let message: String

  init(_ message: String) { self.message = message }
}
