/// What a test needs and did not get.
public struct TestFailure: Error, CustomStringConvertible {
  /// A sentence.
  public let description: String

  /// A failure as given.
  public init(_ description: String) { self.description = description }
}
