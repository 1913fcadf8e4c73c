/// Something about a host that its operator should know, or must do something about. The one shape in which a host reports trouble.
public struct Problem: Sendable, Hashable {
  /// What sort of trouble. Final: the raw values are part of the control API.
  public enum Kind: String, Sendable, CaseIterable {
    /// Runs of a schedule, or of an identifier, failed one after the other.
    case failing
    /// Requests failed for good and wait for a person.
    case deadLetters = "dead_letters"
    /// Requests have been due for long and do not run.
    case overdue
    /// A plugin gets no runs until it is released.
    case quarantined
    /// A plugin gets no runs for a while, because of crashes or forced stops.
    case held
    /// A plugin gets no runs: a thread that it overran does not come back.
    case suspended
    /// The file of a registered plugin is gone.
    case pluginGone = "plugin_gone"
    /// The store cannot be written or read.
    case storeFailing = "store_failing"
    /// The store's content is damaged.
    case storeDamaged = "store_damaged"
    /// The store's files were deleted or replaced while the host had them open.
    case storeReplaced = "store_replaced"
    /// The store lacks something that it once had.
    case storeLoss = "store_loss"
    /// The store could not be checked for damage.
    case storeUnchecked = "store_unchecked"
    /// The lock of the state directory was removed or replaced while the host runs.
    case stateDirectory = "state_directory"
    /// The machine lacks what the host needs to start workers: threads, descriptors, memory.
    case shortage
    /// A path that a plugin is entitled to, or its data directory, is not what it was when the host launched, or cannot be opened.
    case path
    /// A worker does not start: its program is gone, or gives up before the plugin is loaded.
    case worker
    /// An operator decided that a condition holds, or does not, whatever the machine says.
    case override
    /// An event socket lost datagrams, or is not read any more.
    case eventSocket = "event_socket"
    /// Lines of the log are lost: nobody reads it, or it cannot be written.
    case log
    /// A limit of the system that will stop the host's work once it is reached.
    case limit
    /// Something that the host watches is not watched.
    case unwatched
    /// The configuration says something that has no effect.
    case configuration
  }

  /// What sort of trouble.
  public var kind: Kind
  /// Whom or what it is about: an identifier, `IDENTIFIER/KEY`, a path, a condition; nil: the host as a whole.
  public var subject: String?
  /// What was seen, without a full stop.
  public var sentence: String
  /// What to do, without a full stop.
  public var remedy: String
  /// Since when; nil: that is not known.
  public var since: WallTime?
  /// Whether a person must do something: `taskhost status` exits 1 as long as there is one such problem. Else it is a warning.
  public var needsAction: Bool

  /// A problem as given.
  public init(_ kind: Kind, of subject: String? = nil, _ sentence: String, remedy: String, since: WallTime? = nil, needsAction: Bool = true)
  {
    self.kind = kind
    self.subject = subject
    self.sentence = sentence
    self.remedy = remedy
    self.since = since
    self.needsAction = needsAction
  }

  /// Sentence and remedy on one line.
  public var text: String { "\(sentence): \(remedy)" }
}

extension Problem: Comparable {
  /// What needs a person comes first, then the order of kinds and subjects.
  public static func < (left: Problem, right: Problem) -> Bool { left.rank < right.rank }

  private var rank: (Int, Int, String, String) {
    (needsAction ? 0 : 1, Kind.allCases.firstIndex(of: kind) ?? 0, subject ?? "", sentence)
  }
}
