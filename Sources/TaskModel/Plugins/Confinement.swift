/// Limits and entitlements of one plugin's worker process, with absolute paths.
public struct Confinement: Sendable, Hashable {
  /// Which connections it may make.
  public enum Network: Sendable, Hashable {
    /// None.
    case none
    /// Outgoing, to any port, TCP and UDP.
    case connect
    /// Outgoing TCP to these ports (and to 53 for DNS); no UDP.
    case ports([UInt16])
  }

  /// Bytes of private writable memory (`RLIMIT_DATA`).
  public var memory: Int
  /// Processes and threads.
  public var processes: Int
  /// Open descriptors.
  public var descriptors: Int
  /// The plugin's file: readable and executable.
  public var plugin: String
  /// Its own folder, readable and writable; nil if it has none yet.
  public var dataDirectory: String?
  /// Library folders besides the system's: readable and executable.
  public var libraryDirectories: [String]
  /// Further paths it may read. Symbolic links in them are not followed.
  public var read: [String]
  /// Further paths it may read and write. Symbolic links in them are not followed.
  public var write: [String]
  /// Which connections it may make.
  public var network: Network
  /// Whether it may start programs.
  public var exec: Bool
  /// Descriptors that the host opened for paths of ``dataDirectory``, ``read`` and ``write``, in the process to confine. Such a path means
  /// the opened file, whatever the path leads to now.
  public var opened: [String: Int32]
  /// Entitled paths that did not exist when it started. They are not in ``read``, so it cannot read them although it is entitled to.
  public var absentRead: [String]
  /// As ``absentRead``, for ``write``.
  public var absentWrite: [String]
  /// A denial does not suggest entitlements that these refuse. The most important come first: there is room for some hundreds.
  public var reserved: [ReservedPath]

  /// A confinement with the configuration's defaults.
  public init(
    plugin: String, dataDirectory: String? = nil, libraryDirectories: [String] = [], memory: Int = 256 << 20, processes: Int = 32,
    descriptors: Int = 256, read: [String] = [], write: [String] = [], network: Network = .none, exec: Bool = false,
    opened: [String: Int32] = [:], absentRead: [String] = [], absentWrite: [String] = [], reserved: [ReservedPath] = []
  ) {
    self.plugin = plugin
    self.dataDirectory = dataDirectory
    self.libraryDirectories = libraryDirectories
    self.memory = memory
    self.processes = processes
    self.descriptors = descriptors
    self.read = read
    self.write = write
    self.network = network
    self.exec = exec
    self.opened = opened
    self.absentRead = absentRead
    self.absentWrite = absentWrite
    self.reserved = reserved
  }
}
