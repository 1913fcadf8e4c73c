/// Why the directory of the private copies cannot be used. This ends the launch.
public struct PluginCopiesError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The directory, as it was given.
  public let directory: String

  /// What was seen, without a full stop at the end.
  public let observed: String

  /// What to do next, as a sentence.
  public let remedy: String

  init(directory: String, observed: String, remedy: String) {
    self.directory = directory
    self.observed = observed
    self.remedy = remedy
  }

  /// `<directory>: <observed>. <remedy>`
  public var description: String { "\(directory): \(observed). \(remedy)" }
}
