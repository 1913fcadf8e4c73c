/// Why a directory of plugins, or of their private copies, cannot be used. Unlike a ``PluginRefusal``, this ends the launch.
public struct PluginDirectoryError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The directory as given.
  public let directory: String

  /// What was seen, without a final full stop.
  public let observed: String

  /// What to do next, as a sentence.
  public let remedy: String

  /// `<directory>: <observed>. <remedy>`
  public var description: String { "\(directory): \(observed). \(remedy)" }
}
