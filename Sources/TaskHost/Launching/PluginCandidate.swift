import PluginTrust
import StrictText
import TaskModel

/// A plugin file that may be launched: checked, copied, its signature looked at.
struct PluginCandidate: Sendable {
  /// The original's path, for sentences.
  let path: String
  /// SHA-256 of the content; of a manifest's and its library's together.
  let digest: [UInt8]
  /// What is loaded.
  let copy: String
  /// What the file says of itself; nil where that was not read because a verdict on it is known.
  var elf: ElfSummary?
  /// What its signature is worth.
  let signature: SignatureStatus
  /// The function of the library that is its handler, where the file is a manifest; nil: it is a plugin's.
  var adoption: LibraryAdoption?
  /// SHA-256 of the file, where ``digest`` is of the file and its library together.
  var fileDigest: [UInt8]?
  /// SHA-256 of the copy, where it is not of the file's content.
  var copyDigest: [UInt8]?
  /// How the file is found unchanged at the next launch; nil: it is not.
  let remembered: KnownPluginFile?

  var digestText: String { Hex.text(fileDigest ?? digest) }

  var name: String { path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path }
}

struct RegisteredPlugin: Sendable {
  let candidate: PluginCandidate
  let registrations: [HandlerRegistration]
  let contracts: [HandlerContract]
  /// What it submitted and cancelled while it launched, in order.
  let changes: [LaunchChange]
  let placement: Placement
}

/// A file that did not become a plugin.
struct RefusedPlugin: Sendable {
  let refusal: PluginRefusal
  /// Who it would have been, where that is known.
  let identifier: TaskIdentifier?
  /// Whether another try may help: it crashed, or took too long.
  var isTemporary = false
}
