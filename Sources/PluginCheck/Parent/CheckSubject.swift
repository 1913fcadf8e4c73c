public import PluginTrust
public import TaskModel

/// The subject of a check: a plugin, or a library that a manifest adopts. It passed inspection, so a host would accept its file.
public struct CheckSubject: Sendable {
  /// The absolute path of the plugin's file or of the manifest, for the report.
  let path: String
  /// The absolute path of the file to load.
  let file: String
  /// Whether to load the file in place. Otherwise a copy is loaded, as a host does.
  let isSystem: Bool
  /// `taskhost_plugin_handler_limit`.
  let handlerLimit: Int
  /// The plugin's ELF data; nil if it is not a plugin.
  let elf: ElfSummary?
  /// How to call the library; nil for a plugin.
  let adoption: LibraryAdoption?

  /// Creates the subject for a plugin.
  public init(_ plugin: PluginFile) {
    path = plugin.path
    file = plugin.path
    isSystem = false
    handlerLimit = Int(plugin.elf.handlerLimit)
    elf = plugin.elf
    adoption = nil
  }

  /// Creates the subject for a library that a manifest adopts.
  ///
  /// - Parameter manifest: The absolute path of the manifest.
  public init(manifest: String, adoption: LibraryAdoption, library: AdoptedLibrary) {
    path = manifest
    file = library.original
    isSystem = library.isSystem
    handlerLimit = 1
    elf = nil
    self.adoption = adoption
  }
}
