/// Why one plugin is not taken: what was seen in its file, or in its launch, and what to do about it.
///
/// Every stage that can refuse a plugin uses this type, so that a status, a log line and `taskhost plugins list` read the same whatever the
/// reason. It is never fatal by itself: the host goes on without that plugin.
public struct PluginRefusal: Error, Sendable, Equatable {
  /// The reason as a name that does not change between releases.
  public let code: Code

  /// The file, as a path or a bare name; ``description`` shows its last component.
  public let file: String

  /// What was seen, without the file's name and without a full stop at the end.
  public let observed: String

  /// What to do next: a sentence or two, with their full stops.
  public let remedy: String

  /// Puts a refusal together.
  ///
  /// - Parameters:
  ///   - code: The stable name of the reason.
  ///   - file: A path or a bare file name.
  ///   - observed: What was seen, without a full stop at the end.
  ///   - remedy: What to do next, as sentences.
  public init(code: Code, file: String, observed: String, remedy: String) {
    self.code = code
    self.file = file
    self.observed = observed
    self.remedy = remedy
  }

  /// The last component of ``file``.
  public var fileName: String {
    guard let slash = file.lastIndex(of: "/") else { return file }
    return String(file[file.index(after: slash)...])
  }
}

extension PluginRefusal: CustomStringConvertible {
  /// `libfoo.so: <observed>. <remedy>`
  public var description: String { "\(fileName): \(observed). \(remedy)" }
}
