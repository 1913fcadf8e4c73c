/// Why a rule may not name a directory, or use a glob.
struct Refusal: Error, CustomStringConvertible, Equatable {
  /// What the settings say.
  let text: String
  let reason: String

  var description: String { "\"\(text)\" \(reason)" }
}
