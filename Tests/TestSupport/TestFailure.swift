/// Why a test cannot go on, as a sentence.
public struct TestFailure: Error, CustomStringConvertible {
  /// The sentence.
  public let description: String

  /// A failure as given.
  public init(_ description: String) { self.description = description }
}
