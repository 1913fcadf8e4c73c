import ArgumentParser
import StrictText
import TaskModel

struct PluginsNewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new",
    abstract: "Create a plugin project that builds and passes `plugins check`. Needs no host.",
    discussion: """
      Writes a folder with the plugin's source, a Makefile and a README. C, C++ and
      Rust need only the header, which is copied into the folder. A Swift package
      depends on taskhost's package: name it with --sdk, or the command finds it from
      this program's path. Never overwrites a file.

      EXAMPLES
        taskhost plugins new --language c hello-sync
        taskhost plugins new --language swift notes --identifier org.example.notes
        taskhost plugins new --language swift --from-ios feed
        taskhost plugins new --language rust hello-sync --directory ~/src/hello-sync
      """)

  @Option(help: ArgumentHelp("The language of the plugin.", valueName: PluginLanguage.allValueStrings.joined(separator: "|")))
  var language: PluginLanguage
  @Argument(help: "The plugin's name: 1 to 64 of a-z A-Z 0-9 _ -, beginning with a letter.")
  var name: String
  @Option(help: ArgumentHelp("The task identifier that it handles. (default: org.example.NAME)", valueName: "identifier"))
  var identifier: String?
  @Option(help: ArgumentHelp("The kind of work: refresh, processing or continued.", valueName: "kind"))
  var kind = "refresh"
  @Option(help: ArgumentHelp("The folder to write; must be empty or missing. (default: NAME)", valueName: "dir"))
  var directory: String?
  @Option(help: ArgumentHelp("Where the taskhost package is, for Swift.", valueName: "path"))
  var sdk: String?
  @Flag(
    name: .customLong("from-ios"),
    help: "Of Swift: a plugin that is written as an app for iOS, with scenes, BGTaskScheduler and Logger.")
  var fromIOS = false
  @Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    let bytes = Array(name.utf8)
    func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) }
    guard let first = bytes.first, isLetter(first), bytes.count <= 64,
      bytes.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
    else {
      throw ValidationError("The name \"\(name)\" is not valid: use 1 to 64 of a-z A-Z 0-9 _ - and begin with a letter.")
    }
    do throws(InvalidIdentifier) { _ = try TaskIdentifier(identifier ?? "org.example.\(name)") } catch {
      throw ValidationError("\(error)")
    }
    guard TaskKind(rawValue: kind) != nil else {
      throw ValidationError("There is no kind \"\(kind)\": use \(TaskKind.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    if fromIOS {
      guard language == .swift else { throw ValidationError("--from-ios is only for Swift.") }
      guard kind == "refresh" else { throw ValidationError("--from-ios decides the kinds: leave --kind out.") }
    }
    if sdk != nil, language != .swift { throw ValidationError("--sdk is only for Swift; the other languages use a copy of taskhost.h.") }
  }

  func run() throws {
    let folder = directory ?? name
    var values = [
      "NAME": name, "IDENTIFIER": identifier ?? "org.example.\(name)", "KIND": kind, "KIND_CONSTANT": "TASKHOST_\(kind.uppercased())",
      "CRATE": Self.crateName(of: name), "TYPE": Self.typeName(of: name),
    ]
    if language == .swift {
      values["SDK"] = try PluginsNewFolder.sdk(sdk)
      values["SWIFT"] = PluginLanguage.swiftVersion
    }
    let files = language.files(fromIOS: fromIOS).map { file in
      // The header has no placeholders.
      (path: Self.fill(file.path, values), text: file.path == "include/taskhost.h" ? file.text : Self.fill(file.text, values))
    }
    try PluginsNewFolder.write(files.map { ($0.path, Array($0.text.utf8)) }, to: folder)
    guard !json else {
      return Terminal.printObject { writer in
        writer.member("directory", folder)
        writer.member("language", language.rawValue)
        writer.member("identifier", values["IDENTIFIER"])
        writer.member("kind", kind)
        writer.member("files", files.map(\.path))
      }
    }
    Terminal.print("\(folder) is a plugin in \(language.title) for \(values["IDENTIFIER"] ?? name). Next:")
    Terminal.print("  cd \(Self.quoted(folder))")
    Terminal.print("  make")
    Terminal.print("  make check")
  }

  /// `hello-sync` as a Swift type name: `HelloSync`.
  private static func typeName(of name: String) -> String {
    name.split { $0 == "-" || $0 == "_" }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  /// `hello-sync` as a Rust crate name that is not one of Rust's own: `plugin_hello_sync`.
  private static func crateName(of name: String) -> String {
    (["plugin"] + name.lowercased().split { $0 == "-" || $0 == "_" }.map(String.init)).joined(separator: "_")
  }

  /// The path, quoted for a shell if necessary.
  private static func quoted(_ path: String) -> String {
    let isPlain = path.unicodeScalars.allSatisfy {
      $0.isASCII && ($0.properties.isAlphabetic || "0123456789/._-+,@:".unicodeScalars.contains($0))
    }
    return isPlain ? path : path.inShellQuotes
  }

  /// The text with each `@KEY@` replaced by its value.
  private static func fill(_ text: String, _ values: [String: String]) -> String {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    var filled = String(parts.first ?? "")
    var isKey = true
    for part in parts.dropFirst() {
      if isKey, let value = values[String(part)] {
        filled += value
        isKey = false
      } else {
        filled += (isKey ? "@" : "") + part
        isKey = true
      }
    }
    return filled
  }
}
