/// Why a key file, a signature file or a file to sign cannot be used.
public struct SigningFileError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file as given.
  public let file: String

  /// What was seen, without the file's name or a final full stop.
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

/// A flaw of a key or signature file, worded as the predicate of a sentence about the file.
package struct SigningFlaw: Error, Sendable, Equatable {
  package let observed: String

  init(_ observed: String) { self.observed = observed }
}
