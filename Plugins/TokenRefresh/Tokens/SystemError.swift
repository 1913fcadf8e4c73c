import Glibc

/// A failed system call: the action and its errno.
struct SystemError: Error, CustomStringConvertible {
  let action: String
  let code: Int32

  var description: String {
    "cannot \(action): \(String(cString: strerror(code)))"
  }

  /// Makes a call, and repeats it if a signal interrupted it. Throws the errno if the result is −1.
  @discardableResult
  static func check<Result: SignedInteger>(_ action: String, _ call: () -> Result) throws(SystemError) -> Result {
    while true {
      let result = call()
      if result != -1 { return result }
      if errno != EINTR { throw SystemError(action: action, code: errno) }
    }
  }
}

/// A problem with a file's content, an address or a secret: a sentence without any of the content.
struct Problem: Error, CustomStringConvertible {
  let reason: String

  var description: String { reason }
}

/// Why a token file cannot be used, and the remedy.
enum TokenFileProblem: Error, Equatable, CustomStringConvertible {
  /// The file does not exist: no one has signed in.
  case missing(path: String)
  /// The file exists, but was refused or could not be read.
  case unusable(path: String, observed: String, remedy: String)

  var description: String {
    switch self {
    case .missing(let path): "\(path): no such file: sign in to create it"
    case .unusable(let path, let observed, let remedy): "\(path): \(observed) (\(remedy))"
    }
  }
}
