public import PluginTrust
public import TaskModel

/// What is checked: a plugin, or a library that a manifest adopts. Each has been inspected and would be taken by a host.
public struct CheckSubject: Sendable {
  /// The plugin's file or the manifest, for the report: an absolute path.
  let path: String
  /// What is loaded, an absolute path.
  let file: String
  /// Whether the file is loaded where it is; else from a copy, as a host does.
  let isSystem: Bool
  /// `taskhost_plugin_handler_limit`.
  let handlerLimit: Int
  /// What the file says of itself; nil if it is no plugin.
  let elf: ElfSummary?
  /// How the library is called; nil if it is a plugin.
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
