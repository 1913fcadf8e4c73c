/// Why a glob is refused.
struct GlobError: Error, CustomStringConvertible, Equatable {
  let glob: String
  let reason: String

  var description: String { "\"\(glob)\" \(reason)" }
}
