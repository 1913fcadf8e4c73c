/// Limits and entitlements of one plugin's worker process, with absolute paths.
public struct Confinement: Sendable, Hashable {
  /// The connections that the process may make.
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
  /// The maximum number of processes and threads.
  public var processes: Int
  /// The maximum number of open descriptors.
  public var descriptors: Int
  /// The plugin's file, readable and executable.
  public var plugin: String
  /// The plugin's own folder, readable and writable; nil if it has none yet.
  public var dataDirectory: String?
  /// Library folders besides the system's, readable and executable.
  public var libraryDirectories: [String]
  /// Further readable paths. Symbolic links in them are not followed.
  public var read: [String]
  /// Further readable and writable paths. Symbolic links in them are not followed.
  public var write: [String]
  /// The connections that the process may make.
  public var network: Network
  /// Whether the process may start programs.
  public var exec: Bool
  /// Descriptors, in the process to confine, that the host opened for paths of ``dataDirectory``, ``read`` and ``write``. Such a path means
  /// the opened file, wherever the path leads now.
  public var opened: [String: Int32]
  /// Readable paths that did not exist when the process started. They are not in ``read``, so the process cannot read them despite its
  /// entitlement.
  public var absentRead: [String]
  /// Like ``absentRead``, for ``write``.
  public var absentWrite: [String]
  /// Paths that rule out entitlements, which a denial then does not suggest. The most important come first: there is room for some
  /// hundreds.
  public var reserved: [ReservedPath]

  /// Creates a confinement with the configuration's defaults.
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
