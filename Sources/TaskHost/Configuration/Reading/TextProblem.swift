/// Why a text is not what it should be, as a clause that stands after a file's or key's name.
struct TextProblem: Error, Sendable, Equatable {
  let message: String

  init(_ message: String) { self.message = message }
}
