/// A ``PluginRefusal`` without the file it is about. The sentences are in `Rejection+Sentences.swift`.
struct Rejection: Error, Sendable, Equatable {
  let code: PluginRefusal.Code
  let observed: String
  let remedy: String

  func refusal(of file: String) -> PluginRefusal { PluginRefusal(code: code, file: file, observed: observed, remedy: remedy) }

  /// Runs `body`; a rejection becomes the refusal of `file`.
  static func refusing<Result>(_ file: String, _ body: () throws(Rejection) -> Result) throws(PluginRefusal) -> Result {
    do throws(Rejection) { return try body() } catch { throw error.refusal(of: file) }
  }
}
