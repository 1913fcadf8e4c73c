public import TaskModel

/// What a plugin's workers are started with.
public struct WorkerSpec: Sendable {
  /// The program, an absolute path.
  public var executable: String
  /// The plugin's file name, for sentences.
  public var name: String
  /// What it may use and reach; names the copy that is loaded.
  public var confinement: Confinement
  /// How much of the processors it may use, with what it starts.
  public var processor: ProcessorLimit
  /// What paths of the confinement stood for when the host launched, its data directory with them: opened for each worker, and refused to it
  /// when something else is there by then. Other paths the worker opens itself, without following links.
  public var entitled: [EntitledPath]
  /// Who the plugin is, where that is known before it registers.
  public var identifier: TaskIdentifier?
  /// The function of it that is its handler, for a library that is adopted; nil: it is a plugin with a launch function.
  public var adoption: LibraryAdoption?
  /// How many handlers it may register.
  public var handlerLimit: Int
  /// How long loading and launching may take.
  public var launchBudget: Duration
  /// The environment, `NAME=value` each. Nothing else is passed on.
  public var environment: [String]
  /// The newest version of Landlock's interface to use; nil: the kernel's.
  public var landlockLimit: Int?
  /// How long a worker without runs is kept.
  public var idleTime: Duration

  /// A specification as given.
  public init(
    executable: String, name: String, confinement: Confinement, processor: ProcessorLimit = ProcessorLimit(),
    entitled: [EntitledPath] = [], identifier: TaskIdentifier?,
    adoption: LibraryAdoption? = nil,
    handlerLimit: Int = 1, launchBudget: Duration,
    environment: [String] = [], landlockLimit: Int? = nil, idleTime: Duration = .seconds(30)
  ) {
    self.executable = executable
    self.name = name
    self.confinement = confinement
    self.processor = processor
    self.entitled = entitled
    self.identifier = identifier
    self.adoption = adoption
    self.handlerLimit = handlerLimit
    self.launchBudget = launchBudget
    self.environment = environment
    self.landlockLimit = landlockLimit
    self.idleTime = idleTime
  }
}
