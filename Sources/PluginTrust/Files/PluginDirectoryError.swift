/// A directory of plugins, or of their private copies, that cannot be used. Unlike a ``PluginRefusal``, it ends the launch.
public struct PluginDirectoryError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The directory as given.
  public let directory: String

  /// What was seen, without a full stop at the end.
  public let observed: String

  /// What to do next, as a sentence.
  public let remedy: String

  /// `<directory>: <observed>. <remedy>`
  public var description: String { "\(directory): \(observed). \(remedy)" }
}
