public import TaskModel

/// What a worker needs to know before it gives up its rights and loads the plugin.
public struct WorkerBoot: Sendable, Hashable {
  /// The host's ``LinkFormat/version``; a worker that has another ends with a sentence.
  public var version: UInt32
  /// The host's process id, to be compared with the parent's once PR_SET_PDEATHSIG is set; above 0.
  public var host: Int32
  /// What the worker may use and reach, and the file it loads.
  public var confinement: Confinement
  /// Who the plugin is, where that is known before it registers.
  public var identifier: TaskIdentifier?
  /// The function of it that is its handler, for a library that is adopted; nil: it is a plugin with a launch function.
  public var adoption: LibraryAdoption?
  /// How many handlers it may register; 1 to ``LinkFormat/registrations``.
  public var handlerLimit: Int
  /// How long its launch function may take.
  public var launchBudget: Duration
  /// The newest Landlock version to use, for tests of older kernels; nil: whatever the kernel has.
  public var landlockLimit: Int?

  /// A boot message as given.
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
