/// A plugin directory that cannot be listed. Unlike a ``PluginRefusal`` it concerns the configuration and ends the launch.
public struct PluginDirectoryError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The directory, as it was given.
  public let directory: String

  /// What was seen, without a full stop at the end.
  public let observed: String

  /// What to do next, as a sentence.
  public let remedy: String

  /// `<directory>: <observed>. <remedy>`
  public var description: String { "\(directory): \(observed). \(remedy)" }
}
