import ArgumentParser
import Glibc
import PluginTrust
import StrictText
import TaskHost
import TaskModel

/// `taskhost plugins inspect`
struct PluginsInspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show what a plugin file says of itself, and whether the host would load it. Runs none of its code, needs no host.",
    discussion: """
      What the file registers is known only once it is launched, unless it carries a note that says so.
      Of a manifest that adopts a library, NAME.task.toml, it shows the contract and the library.
      Exits 1 when the host would refuse the file.

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
        if json { Terminal.print(Self.json(of: manifest)) } else { Self.show(Self.rows(of: manifest)) }
      } else {
        let plugin = try PluginInspector.inspect(file)
        if json { Terminal.print(Self.json(of: plugin)) } else { Self.show(Self.rows(of: plugin)) }
      }
    } catch {
      if json { Terminal.print(Self.json(of: error)) }
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
        table.append(("budget", budget == 0 ? "its kind's" : DurationText.format(milliseconds: Int64(clamping: budget))))
      }
      if let version = note.version { table.append(("version", version)) }
      if let swift = note.swift { table.append(("swift", swift)) }
    } else {
      table.append(("note", "none: its identifier is known once it is launched"))
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

  /// What lies beside the file as its signature. Whether a host trusts the key is the host's matter.
  private static func signature(of path: String) -> (key: String?, text: String) {
    let place = PluginSigning.signatureFile(of: path)
    guard access(place, F_OK) == 0 else { return (nil, "none") }
    do throws(SigningFileError) {
      let key = try PluginSignature(reading: place).keyID
      return (key, "by the key \(key), not verified: taskhost plugins verify")
    } catch { return (nil, "\(error.file) \(error.observed)") }
  }

  private static func json(of plugin: PluginFile) -> [UInt8] {
    JSONWriter.object { writer in
      writer.member("file", plugin.path)
      writer.member("accepted", true)
      writer.member("size_bytes", plugin.size)
      writer.member("abi_version", plugin.elf.abiVersion)
      writer.member("handler_limit", plugin.elf.handlerLimit)
      writer.member("shutdown_hook", plugin.elf.hasShutdown)
      writer.member("libraries", plugin.elf.libraries)
      writer.member("search_path", plugin.elf.searchPath)
      if let note = plugin.elf.note {
        writer.object("note") {
          $0.member("identifier", note.identifier)
          $0.member("kind", note.kind?.rawValue)
          $0.member("budget_ms", note.budgetMilliseconds)
          $0.member("version", note.version)
          $0.member("swift", note.swift)
        }
      }
      writer.member("signature_key", signature(of: plugin.path).key)
    }
  }

  private static func json(of manifest: ManifestInspection) -> [UInt8] {
    JSONWriter.object {
      $0.member("file", manifest.path)
      $0.member("accepted", true)
      $0.member("identifier", manifest.adoption.identifier.rawValue)
      $0.member("kind", manifest.adoption.kind.rawValue)
      $0.member("library", manifest.library.original)
      $0.member("system_library", manifest.library.isSystem)
      $0.member("symbol", manifest.adoption.symbol)
      $0.member("signature", manifest.adoption.typed.signature)
      $0.member("success", manifest.adoption.typed.success.rawValue)
      $0.member("libraries", manifest.library.libraries)
    }
  }

  private static func json(of refusal: PluginRefusal) -> [UInt8] {
    JSONWriter.object {
      $0.member("file", refusal.file)
      $0.member("accepted", false)
      $0.object("reason") {
        $0.member("code", refusal.code.rawValue)
        $0.member("message", "\(refusal.observed). \(refusal.remedy)")
      }
    }
  }
}
