public import TaskModel

/// What a worker must know before it drops its privileges and loads the plugin.
public struct WorkerBoot: Sendable, Hashable {
  /// The host's ``LinkFormat/version``; a worker with another version ends with a message.
  public var version: UInt32
  /// The host's process id, above 0; the worker compares it with its parent's after setting PR_SET_PDEATHSIG.
  public var host: Int32
  /// The worker's entitlements and limits, and the file that it loads.
  public var confinement: Confinement
  /// The plugin's identifier, if it is known before the plugin registers.
  public var identifier: TaskIdentifier?
  /// The function of an adopted library that serves as the handler; nil for a plugin with a launch function.
  public var adoption: LibraryAdoption?
  /// The most handlers that the plugin may register; 1 to ``LinkFormat/registrations``.
  public var handlerLimit: Int
  /// The time limit of the launch function.
  public var launchBudget: Duration
  /// The newest Landlock version to use, for tests of older kernels; nil uses the kernel's.
  public var landlockLimit: Int?

  /// Creates a boot message.
  public init(
    version: UInt32 = LinkFormat.version, host: Int32, confinement: Confinement, identifier: TaskIdentifier? = nil,
    adoption: LibraryAdoption? = nil, handlerLimit: Int = 1, launchBudget: Duration, landlockLimit: Int? = nil
  ) {
    self.version = version
    self.host = host
    self.confinement = confinement
    self.identifier = identifier
    self.adoption = adoption
    self.handlerLimit = handlerLimit
    self.launchBudget = launchBudget
    self.landlockLimit = landlockLimit
  }
}
