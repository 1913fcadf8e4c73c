/// Why a token file cannot be used: what was seen, and what to do.
enum TokenFileProblem: Error, Equatable, CustomStringConvertible {
  /// There is no such file: nobody has signed in.
  case missing(path: String)
  /// The file is there and was refused, or could not be read.
  case unusable(path: String, observed: String, remedy: String)

  var description: String {
    switch self {
    case .missing(let path): "\(path): no such file: sign in to create it"
    case .unusable(let path, let observed, let remedy): "\(path): \(observed) (\(remedy))"
    }
  }
}
