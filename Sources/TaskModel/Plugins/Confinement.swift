/// What a worker process may use and reach: limits and entitlements of one plugin, resolved to absolute paths.
public struct Confinement: Sendable, Hashable {
  /// Which connections it may make.
  public enum Network: Sendable, Hashable {
    /// None.
    case none
    /// Outgoing, to any port, TCP and UDP.
    case connect
    /// Outgoing TCP to these ports (and to 53, for names); no UDP.
    case ports([UInt16])
  }

  /// Bytes of private writable memory (`RLIMIT_DATA`).
  public var memory: Int
  /// Processes and threads.
  public var processes: Int
  /// Open descriptors.
  public var descriptors: Int
  /// The file that is loaded: readable and executable.
  public var plugin: String
  /// Its own folder, readable and writable; nil: it has none yet.
  public var dataDirectory: String?
  /// Folders of libraries besides the system's: readable and executable.
  public var libraryDirectories: [String]
  /// Further paths it may read. No link on the way there is followed.
  public var read: [String]
  /// Further paths it may read and write. No link on the way there is followed.
  public var write: [String]
  /// Which connections it may make.
  public var network: Network
  /// Whether it may start programs.
  public var exec: Bool
  /// What was opened for paths of ``dataDirectory``, ``read`` and ``write``, by path: descriptors of the process that is confined. Such a
  /// path stands for what was opened, whatever is there by now.
  public var opened: [String: Int32]
  /// Paths of its entitlements that were not there when it was started, so that they are not in ``read``: it may not read them, though it is
  /// entitled to.
  public var absentRead: [String]
  /// As ``absentRead``, of ``write``.
  public var absentWrite: [String]
  /// No denial advises an entitlement that these refuse. The most important come first: there is room for some hundreds.
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
