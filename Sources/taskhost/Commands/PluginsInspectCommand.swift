import ArgumentParser
import Glibc
import StrictText
import PluginTrust
import TaskHost
import TaskModel

struct PluginsInspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show what a plugin file declares, and whether the host would load it. Runs none of its code; needs no host.",
    discussion: """
      What the file registers is known only after a launch, unless the file contains
      a note that states it. For a manifest that adopts a library, NAME.task.toml,
      the command shows the contract and the library. It exits 1 if the host would
      refuse the file.

      EXAMPLES
        taskhost plugins inspect plugins/libCleanup.so
        taskhost plugins inspect ./hello-c.so --json
        taskhost plugins inspect plugins/crc32.task.toml
      """)

  @Argument(help: "The file.")
  var file: String
  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    do {
      if file.hasSuffix(".task.toml") {
        let manifest = try PluginInspector.inspectManifest(file)
        if json { Self.printJSON(of: manifest) } else { Self.show(Self.rows(of: manifest)) }
      } else {
        let plugin = try PluginInspector.inspect(file)
        if json { Self.printJSON(of: plugin) } else { Self.show(Self.rows(of: plugin)) }
      }
    } catch {
      if json { Self.printJSON(of: error) }
      throw CommandFailure(.failed, file, error.observed, remedy: error.remedy)
    }
  }

  private static func rows(of plugin: PluginFile) -> [(String, String)] {
    let elf = plugin.elf
    var table: [(String, String)] = [
      ("file", plugin.path), ("size", "\(plugin.size) bytes"), ("abi version", "\(elf.abiVersion)"),
      ("handlers", "at most \(elf.handlerLimit)"),
      ("shutdown hook", elf.hasShutdown ? "yes" : "no"), ("libraries", elf.libraries.joined(separator: ", ")),
    ]
    if !elf.searchPath.isEmpty { table.append(("search path", elf.searchPath.joined(separator: ", "))) }
    if let note = elf.note {
      table.append(("identifier", note.identifier))
      if let kind = note.kind { table.append(("kind", kind.rawValue)) }
      if let budget = note.budgetMilliseconds {
        table.append(("budget", budget == 0 ? "its kind's" : DurationFormat.words(milliseconds: Int64(clamping: budget))))
      }
      if let version = note.version { table.append(("version", version)) }
      if let swift = note.swift { table.append(("swift", swift)) }
      table += note.asks.map { ("asks for", $0) }
    } else {
      table.append(("note", "none: its identifier is known only after a launch"))
    }
    table.append(("signature", signature(of: plugin.path).text))
    return table
  }

  private static func rows(of manifest: ManifestInspection) -> [(String, String)] {
    let (adoption, library) = (manifest.adoption, manifest.library)
    return [
      ("file", manifest.path), ("identifier", adoption.identifier.rawValue), ("kind", adoption.kind.rawValue),
      ("library", library.original + (library.isSystem ? " (the system's)" : "")), ("symbol", adoption.symbol),
      ("signature", adoption.typed.signature), ("success", adoption.typed.success.rawValue),
      ("libraries", library.libraries.joined(separator: ", ")),
    ]
  }

  private static func show(_ rows: [(String, String)]) {
    let width = rows.map(\.0.count).max() ?? 0
    for (name, text) in rows {
      Terminal.print("\(name)\(String(repeating: " ", count: width - name.count))  \(text.escapingControlCharacters)")
    }
  }

  /// The signature beside the file. Each host decides whether to trust the key.
  private static func signature(of path: String) -> (key: String?, text: String) {
    let place = PluginSigning.signatureFile(of: path)
    guard access(place, F_OK) == 0 else { return (nil, "none") }
    do throws(SigningFileError) {
      let key = try PluginSignature(reading: place).keyID
      return (key, "by the key \(key), not verified: taskhost plugins verify")
    } catch { return (nil, "\(error.file) \(error.observed)") }
  }

  private static func printJSON(of plugin: PluginFile) {
    Terminal.printObject { writer in
      writer.member("file", plugin.path)
      writer.member("accepted", true)
      writer.member("size_bytes", plugin.size)
      writer.member("abi_version", plugin.elf.abiVersion)
      writer.member("handler_limit", plugin.elf.handlerLimit)
      writer.member("shutdown_hook", plugin.elf.hasShutdown)
      writer.member("libraries", plugin.elf.libraries)
      writer.member("search_path", plugin.elf.searchPath)
      if let note = plugin.elf.note {
        writer.object("note") { writer in
          writer.member("identifier", note.identifier)
          writer.member("kind", note.kind?.rawValue)
          writer.member("budget_ms", note.budgetMilliseconds)
          writer.member("version", note.version)
          writer.member("swift", note.swift)
          if !note.asks.isEmpty { writer.member("asks", note.asks) }
        }
      }
      writer.member("signature_key", signature(of: plugin.path).key)
    }
  }

  private static func printJSON(of manifest: ManifestInspection) {
    Terminal.printObject { writer in
      writer.member("file", manifest.path)
      writer.member("accepted", true)
      writer.member("identifier", manifest.adoption.identifier.rawValue)
      writer.member("kind", manifest.adoption.kind.rawValue)
      writer.member("library", manifest.library.original)
      writer.member("system_library", manifest.library.isSystem)
      writer.member("symbol", manifest.adoption.symbol)
      writer.member("signature", manifest.adoption.typed.signature)
      writer.member("success", manifest.adoption.typed.success.rawValue)
      writer.member("libraries", manifest.library.libraries)
    }
  }

  private static func printJSON(of refusal: PluginRefusal) {
    Terminal.printObject { writer in
      writer.member("file", refusal.file)
      writer.member("accepted", false)
      writer.object("reason") { writer in
        writer.member("code", refusal.code.rawValue)
        writer.member("message", "\(refusal.observed). \(refusal.remedy)")
      }
    }
  }
}
