/// Why a key, a signature or a file to sign cannot be used.
public struct SigningFileError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file, as it was given.
  public let file: String

  /// What was seen, without the file's name and without a full stop at the end.
  public let observed: String

  /// What to do next, as a sentence.
  public let remedy: String

  init(_ file: String, _ observed: String, _ remedy: String) {
    self.file = file
    self.observed = observed
    self.remedy = remedy
  }

  /// `<file>: <observed>. <remedy>`
  public var description: String { "\(file): \(observed). \(remedy)" }
}

/// What is wrong with a key or signature file: the end of a sentence whose subject is the file.
struct SigningFlaw: Error, Sendable, Equatable {
  let observed: String

  init(_ observed: String) { self.observed = observed }
}
