public import TaskModel

extension PluginDirectoryScan {
  /// A listed file that passed the checks.
  public enum Entry: Sendable, Equatable {
    /// Unchanged since an earlier launch according to its marks. It was not opened; its owner, mode and directories were checked again.
    case known(KnownPluginFile)
    /// Opened, and its ELF structures checked.
    case inspected(PluginFile)
    /// A manifest, which adopts a library; its text was read.
    case manifest(ManifestFile)

    /// Absolute path with the links of its directories resolved.
    public var path: String {
      switch self {
      case .known(let file): file.path
      case .inspected(let file): file.path
      case .manifest(let file): file.path
      }
    }

    /// The last component of ``path``.
    public var name: String {
      switch self {
      case .known(let file): file.name
      case .inspected(let file): file.name
      case .manifest(let file): file.name
      }
    }
  }
}
