/// Why no rule may name a directory.
struct DirectoryRefusal: Error, CustomStringConvertible, Equatable {
  let directory: String
  let reason: String

  var description: String { "\"\(directory)\" \(reason)" }
}
