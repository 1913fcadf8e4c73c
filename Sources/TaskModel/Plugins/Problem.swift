/// Something that the operator of a host should know or must fix. The host reports every problem in this form.
public struct Problem: Sendable, Hashable {
  /// The kind of problem. The raw values are part of the control API and never change.
  public enum Kind: String, Sendable, CaseIterable {
    /// Consecutive runs of a schedule or an identifier failed.
    case failing
    /// Requests failed permanently and wait for a person.
    case deadLetters = "dead_letters"
    /// Requests have been due for a long time and do not run, or a success has not come that `expect_within` says.
    case overdue
    /// Requests were to begin by now, as `start_within` says.
    case late
    /// An identifier has as many live requests as it may have: submissions are refused.
    case full
    /// A plugin gets no runs until it is released.
    case quarantined
    /// A plugin gets no runs for a while, because of crashes or forced stops.
    case held
    /// A plugin gets no runs: a run exceeded its grace, and its thread has not returned.
    case suspended
    /// A plugin may do more than was approved, and waits for approval.
    case approvalNeeded = "approval_needed"
    /// Files that a reload would read have changed since they were read.
    case reloadPending = "reload_pending"
    /// Changed files were not put in force, because something is wrong with them.
    case reloadFailed = "reload_failed"
    /// The file of a registered plugin is gone.
    case pluginGone = "plugin_gone"
    /// The store cannot be written or read.
    case storeFailing = "store_failing"
    /// The store's content is damaged.
    case storeDamaged = "store_damaged"
    /// The store's files were deleted or replaced while the host had them open.
    case storeReplaced = "store_replaced"
    /// The store has lost records.
    case storeLoss = "store_loss"
    /// The store could not be checked for damage.
    case storeUnchecked = "store_unchecked"
    /// Values of the store are not sealed as they should be, or may be left plain somewhere.
    case encryption
    /// The database of the host's fleet cannot be used: the host takes and submits nothing of the fleet.
    case fleet
    /// The lock of the state directory was removed or replaced while the host runs.
    case stateDirectory = "state_directory"
    /// The machine lacks what the host needs to start workers: threads, descriptors, memory.
    case shortage
    /// An entitled path or a plugin's data directory has changed since the host launched, or cannot be opened.
    case path
    /// A worker does not start: its program is gone, or it exits before it loads the plugin.
    case worker
    /// A debugger holds a plugin: the budgets of its runs are suspended.
    case debugged
    /// An operator overrides a condition.
    case override
    /// Work is paused by an operator.
    case paused
    /// An event socket lost datagrams, or the host no longer reads it.
    case eventSocket = "event_socket"
    /// The certificate of the control API over TCP ends soon or has ended, or its new files cannot be used.
    case certificate
    /// Log lines are lost: the reader is too slow, or the log cannot be written.
    case log
    /// A system limit that stops the host's work once it is reached.
    case limit
    /// The host cannot watch something that it should watch.
    case unwatched
    /// A setting of the configuration has no effect.
    case configuration
  }

  /// The kind of problem.
  public var kind: Kind
  /// The subject: an identifier, `IDENTIFIER/KEY`, a path, a condition; nil for the host as a whole.
  public var subject: String?
  /// What the host saw, without a full stop.
  public var sentence: String
  /// What to do, without a full stop.
  public var remedy: String
  /// When the problem began; nil if unknown.
  public var since: WallTime?
  /// Whether a person must act: `taskhost status` exits 1 while there is such a problem. Otherwise it is a warning.
  public var needsAction: Bool

  /// Creates a problem.
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
  /// Puts problems that need a person first, then orders by kind and subject.
  public static func < (left: Problem, right: Problem) -> Bool { left.rank < right.rank }

  private var rank: (Int, Int, String, String) {
    (needsAction ? 0 : 1, Kind.allCases.firstIndex(of: kind) ?? 0, subject ?? "", sentence)
  }
}
