import PluginTrust
import TaskModel
import TypedCalls

/// The content of a manifest `NAME.task.toml`: the function of a library that is a task's handler, and its calling convention.
struct AdoptionManifest: Sendable, Equatable {
  var identifier = ""
  var kind = TaskKind.processing
  /// An absolute path, or the name of a system library.
  var library = ""
  /// The name of the function.
  var symbol = ""
  var signature: TypedSignature?
  /// Nil means the default of the signature's result.
  var success: SuccessRule?

  private static let required = ["identifier", "kind", "library", "symbol", "signature"]

  private static var fields: [TOMLField<Self>] {
    [
      TOMLField("identifier", \.identifier, .taskIdentifier, about: "The identifier of the handler. Required."),
      TOMLField("kind", \.kind, .choice(), about: "The kind of its tasks. Required."),
      TOMLField("library", \.library, .libraryName, about: "An absolute path, or the name of a system library. Required."),
      TOMLField("symbol", \.symbol, .symbol, about: "The name of the function. Required."),
      TOMLField("signature", optional: \.signature, .signature, about: "How the function is called. Required."),
      TOMLField("success", optional: \.success, .choice(), about: "Which results are a success."),
    ]
  }

  /// - Throws: All problems of the manifest, with line and column.
  init(_ file: ManifestFile) throws(PluginRefusal) {
    let reader: TOMLReader
    do throws(ConfigurationProblem) { reader = try TOMLReader(text: file.text, directory: "/") } catch {
      throw Self.refusal(of: file, [error])
    }
    reader.read(reader.root, Self.fields, into: &self, at: ConfigurationPath())
    for key in Self.required where !reader.has(key) { reader.report(ConfigurationPath(), "there is no \"\(key)\"") }
    if let signature, reader.isSound("success") {
      do throws(SuccessRuleError) { _ = try signature.successRule(success) } catch { reader.report(["success"], "\(error)") }
    }
    guard reader.problems.isEmpty else { throw Self.refusal(of: file, reader.problems) }
  }

  private static func refusal(of file: ManifestFile, _ problems: [ConfigurationProblem]) -> PluginRefusal {
    let places = problems.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
    return PluginRefusal(
      code: .badManifest, file: file.path,
      observed: places.map { "line \($0.line), column \($0.column): \($0.message)" }.joined(separator: "; "),
      remedy: "Correct the manifest.")
  }

  /// - Parameter file: The manifest's file, for the refusal.
  func adoption(_ file: ManifestFile) throws(PluginRefusal) -> LibraryAdoption {
    do {
      guard let signature else { throw TextProblem("there is no \"signature\"") }
      return LibraryAdoption(
        identifier: try TaskIdentifier(identifier), kind: kind, symbol: symbol,
        typed: TypedContract(signature: signature.description, success: try signature.successRule(success)))
    } catch {
      throw PluginRefusal(code: .badManifest, file: file.path, observed: "\(error)", remedy: "Correct the manifest.")
    }
  }
}

extension TOMLConverter<String> {
  fileprivate static var taskIdentifier: Self {
    .text("an identifier") { text, _ throws(TextProblem) in
      do { return try TaskIdentifier(text).rawValue } catch { throw TextProblem("\(error)") }
    }
  }

  fileprivate static var libraryName: Self {
    .text("a library") { text, _ throws(TextProblem) in
      guard !text.isEmpty, text.hasPrefix("/") || !text.contains("/") else {
        throw TextProblem("\"\(text)\" is neither an absolute path nor the name of a system library such as \"libz.so.1\"")
      }
      return text
    }
  }

  fileprivate static var symbol: Self {
    .text("the name of a function") { text, _ throws(TextProblem) in
      guard (1...1024).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
        throw TextProblem("\"\(text)\" is not the name of a function")
      }
      return text
    }
  }
}

extension TOMLConverter<TypedSignature> {
  /// Reports an error with its place in the signature after the key's place in the file.
  fileprivate static var signature: Self {
    .text("a signature such as \"i32(str account)\"") { text, _ throws(TextProblem) in
      do { return try TypedSignature(text) } catch { throw TextProblem("\(error)") }
    }
  }
}
