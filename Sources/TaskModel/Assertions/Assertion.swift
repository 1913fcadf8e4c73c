/// An execution assertion: its holder asks the host not to end in the middle of something. While it is held, a drain waits for it.
///
/// One assertion can stand for a whole queue of work. It ends at the latest with the process or the run that it was taken for, if it was
/// taken for one. Assertions live in memory and end with the host.
///
/// - Source: `beginBackgroundTask` of iOS, which is bounded too; the inhibitors of systemd-logind.
public struct Assertion: Sendable, Hashable {
  /// What has become of an assertion. The raw value is the text in JSON.
  public enum State: String, Sendable, CaseIterable {
    /// A drain waits for it.
    case held
    /// Its holder gave it back.
    case givenBack = "given_back"
    /// Its time is over.
    case expired
    /// The process that it stands for has ended.
    case holderEnded = "holder_ended"
    /// The run that took it has ended.
    case runEnded = "run_ended"
    /// Its holder can no longer give it back, because the control socket has failed.
    case unreachable
    /// An operator forced the host to end without waiting for it.
    case overruled
  }

  /// The id with which its holder gives it back.
  public let id: AssertionID
  /// What was asked for.
  public let request: AssertionRequest
  /// Since when it is held.
  public let since: WallTime
  /// When it expires at the latest, if nobody sets the calendar: the host measures the time on the monotonic clock.
  public let expires: WallTime
  /// What has become of it.
  public var state: State
  /// How long it can still be held; zero once it has ended.
  public var remaining: Duration

  /// Creates an assertion that is held from now on.
  public init(id: AssertionID, request: AssertionRequest, since: WallTime) {
    self.id = id
    self.request = request
    self.since = since
    expires = since + request.length
    state = .held
    remaining = request.length
  }
}

/// Distinguishes ``AssertionID`` from other ids.
public enum AssertionTag {}
/// The id of an execution assertion. A host process never draws one twice.
public typealias AssertionID = RecordID<AssertionTag>
