import PluginTrust
import StrictText
import TaskModel

/// A plugin file that may be launched: it was checked and copied, and its signature was examined.
struct PluginCandidate: Sendable {
  /// The path of the original.
  let path: String
  /// SHA-256 of the content; for a manifest, of its content and its library's.
  let digest: [UInt8]
  /// The file to load.
  let copy: String
  /// The file's own declarations; nil if they were not read because a verdict on the file is known.
  var elf: ElfSummary?
  let signature: SignatureStatus
  /// The library function that is the handler; nil if the file is a plugin, not a manifest.
  var adoption: LibraryAdoption?
  /// SHA-256 of the file if ``digest`` includes a library.
  var fileDigest: [UInt8]?
  /// SHA-256 of the copy if its content differs from the file's.
  var copyDigest: [UInt8]?
  /// Lets the next launch recognize the unchanged file; nil if it cannot.
  let remembered: KnownPluginFile?

  /// The identifier of the command that it runs; nil if it is not the library of the exec plugin.
  var command: TaskIdentifier?

  var digestText: String { Hex.text(fileDigest ?? digest) }

  /// What messages about it name: the file's path, or for a command, its table, because all commands have one file.
  var place: String { command.map { CommandConfiguration.file(of: $0.rawValue) } ?? path }

  /// What identifiers are tied to: the file's name, or for a command, its table.
  var name: String {
    if command != nil { return place }
    return path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }
}

struct RegisteredPlugin: Sendable {
  let candidate: PluginCandidate
  let registrations: [HandlerRegistration]
  let contracts: [HandlerContract]
  /// Its submissions and cancellations during launch, in order.
  let changes: [LaunchChange]
  let placement: Placement
  /// Whether a launch of the same content registers the same, so that the next host need not try.
  var isRepeatable = false
  /// Whether it ran before, and goes on as it is.
  var isKept = false

  var identifiers: [TaskIdentifier] { contracts.map(\.identifier) }
}

/// A file that did not become a plugin.
struct RefusedPlugin: Sendable {
  let refusal: PluginRefusal
  /// Its identifier, if known.
  let identifier: TaskIdentifier?
  /// Whether a retry may help, because it crashed or timed out.
  var isTemporary = false
}
