public import TaskModel

/// What a check of a configuration, or of the machine, has found out about one thing.
public struct Finding: Sendable, Equatable {
  /// What was checked. The raw values are for programs and never change.
  public enum Topic: String, Sendable, CaseIterable {
    /// The configuration file: its syntax, its keys, what they contradict, and settings without effect.
    case configuration
    /// What the kernel offers for confining plugins.
    case sandbox
    /// The control groups that count a plugin's memory and processes.
    case cgroups
    /// The system's limits on processes.
    case limits
    /// The machine's clock.
    case clock
    /// Space and inodes of the disk with the state directory.
    case disk
    /// The state directory: its owner, its mode, whether it can be written.
    case stateDirectory = "state_directory"
    /// The store of requests and runs.
    case store
    /// The keys with which the values of the store are sealed.
    case encryption
    /// The programs and libraries that come with taskhost.
    case programs
    /// Plugin directories, and the files in them.
    case plugins
    /// The programs that commands start.
    case commands
    /// The paths that plugins are entitled to.
    case entitlements
    /// Schedules.
    case schedules
    /// The control socket, and access over TCP.
    case control
    /// The certificate of the access over TCP.
    case certificate
    /// The tokens of the access over TCP.
    case tokens
    /// The accounts whose tokens the token-refresh plugin keeps.
    case accounts
    /// Who gets notifications, pings and traces.
    case receivers
    /// The running host, and what it reports.
    case host
    /// The server of a fleet's database: its settings, its connections, and the fleet's tables.
    case database
    /// What keeps a fleet's database from cleaning up: transactions, slots, dead rows.
    case transactions
    /// Whether what a fleet's database has acknowledged outlives its server.
    case replication
    /// The hosts of a fleet.
    case members
    /// The requests of a fleet.
    case requests
  }

  /// What a finding means for the next runs.
  public enum Verdict: String, Sendable, CaseIterable {
    /// Nothing is wrong.
    case ok
    /// Something may fail, or is not as it should be.
    case warning
    /// Runs will fail, or the host will not start.
    case failure
  }

  /// What was checked.
  public var topic: Topic
  /// What it means.
  public var verdict: Verdict
  /// Which of several: an identifier, a path, an address; nil if there is only one.
  public var subject: String?
  /// What was seen, without a full stop.
  public var seen: String
  /// What it does to the next runs, without a full stop; nil if what was seen says it.
  public var why: String?
  /// What to do, without a full stop; nil if nothing is wrong, or what was seen says it.
  public var remedy: String?
  /// Whether `taskhost run` would refuse to start because of it.
  public var preventsLaunch: Bool
  /// Where it is in the configuration; nil if it is not there.
  public var place: Place?

  /// A place in a configuration.
  public struct Place: Sendable, Equatable {
    /// The file's path as it was given.
    public var file: String
    /// From 1; 0 if it has no line, such as an unreadable file.
    public var line: Int
    /// From 1; 0 where ``line`` is 0.
    public var column: Int
    /// The key with those of its tables; empty if it is about none.
    public var key: String
  }

  /// Creates a finding.
  public init(
    _ topic: Topic, _ verdict: Verdict, of subject: String? = nil, _ seen: String, why: String? = nil, remedy: String? = nil,
    preventsLaunch: Bool = false
  ) {
    (self.topic, self.verdict, self.subject, self.seen) = (topic, verdict, subject, seen)
    (self.why, self.remedy, self.preventsLaunch) = (why, remedy, preventsLaunch)
  }

  /// Something that keeps the host from starting.
  public static func obstacle(
    _ topic: Topic, of subject: String? = nil, _ seen: String, why: String? = nil, remedy: String? = nil
  ) -> Self {
    Self(topic, .failure, of: subject, seen, why: why, remedy: remedy, preventsLaunch: true)
  }

  /// The lines of a failure to launch, a finding each: they say what to do themselves.
  static func obstacles(_ topic: Topic, of subject: String? = nil, _ failure: HostFailure) -> [Self] {
    failure.message.split(separator: "\n").map { obstacle(topic, of: subject, String($0)) }
  }

  /// A problem as a running host would report it.
  public init(_ topic: Topic, _ problem: Problem) {
    self.init(
      topic, problem.needsAction ? .failure : .warning, of: problem.subject, problem.sentence, remedy: problem.remedy)
  }
}

extension ConfigurationError {
  /// A finding for each problem.
  public var findings: [Finding] {
    problems.map { problem in
      var finding = Finding.obstacle(.configuration, problem.message)
      finding.place = Finding.Place(file: file, line: problem.line, column: problem.column, key: problem.key)
      return finding
    }
  }
}
