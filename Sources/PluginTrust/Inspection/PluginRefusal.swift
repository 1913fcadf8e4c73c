/// Why a plugin is refused: what its file or its launch showed, and what to do.
///
/// Every stage that can refuse a plugin uses this type, so that status, logs and `taskhost plugins list` agree. A refusal is never fatal:
/// the host continues without the plugin.
public struct PluginRefusal: Error, Sendable, Equatable {
  /// The stable name of the reason.
  public let code: Code

  /// The file, as a path or a bare name; ``description`` shows its last component.
  public let file: String

  /// What was seen, without the file's name or a final full stop.
  public let observed: String

  /// What to do next, in full sentences.
  public let remedy: String

  /// Creates a refusal.
  ///
  /// - Parameters:
  ///   - code: The stable name of the reason.
  ///   - file: A path or a bare file name.
  ///   - observed: What was seen, without a final full stop.
  ///   - remedy: What to do next, in full sentences.
  public init(code: Code, file: String, observed: String, remedy: String) {
    self.code = code
    self.file = file
    self.observed = observed
    self.remedy = remedy
  }

  /// The last component of ``file``.
  public var fileName: String { file.lastComponent }
}

extension PluginRefusal: CustomStringConvertible {
  /// `libfoo.so: <observed>. <remedy>`
  public var description: String { "\(fileName): \(observed). \(remedy)" }
}
