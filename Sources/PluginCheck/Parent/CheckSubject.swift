public import PluginTrust
public import TaskModel

/// What to check: a plugin, or a library that a manifest adopts. It passed inspection, so a host would accept it.
public struct CheckSubject: Sendable {
  /// The plugin's file or the manifest, for the report: an absolute path.
  let path: String
  /// The absolute path of the file to load.
  let file: String
  /// Whether the file is loaded in place; otherwise from a copy, as a host does.
  let isSystem: Bool
  /// `taskhost_plugin_handler_limit`.
  let handlerLimit: Int
  /// The plugin's ELF data; nil if it is not a plugin.
  let elf: ElfSummary?
  /// How to call the library; nil for a plugin.
  let adoption: LibraryAdoption?

  /// A plugin.
  public init(_ plugin: PluginFile) {
    path = plugin.path
    file = plugin.path
    isSystem = false
    handlerLimit = Int(plugin.elf.handlerLimit)
    elf = plugin.elf
    adoption = nil
  }

  /// A library that the manifest at `manifest`, an absolute path, adopts.
  public init(manifest: String, adoption: LibraryAdoption, library: AdoptedLibrary) {
    path = manifest
    file = library.original
    isSystem = library.isSystem
    handlerLimit = 1
    elf = nil
    self.adoption = adoption
  }
}
