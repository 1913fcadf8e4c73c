/// When something happens to a run: at a time on the virtual clock, or at a step of the handler.
///
/// At a step of the handler, its write or report takes effect first, then the interruption happens, then the call returns. Thread
/// scheduling cannot change that order.
public struct Moment: Sendable, Hashable, CustomStringConvertible {
  enum Kind: Sendable, Hashable {
    case time(Duration)
    case checkpoint(Int)
    case beforeCheckpoint(Int)
    case stateWrite(Int)
    case submission(Int)
    case progress(UInt64)
  }

  let kind: Kind

  /// This long after the run began.
  public static func after(_ duration: Duration) -> Moment { Moment(kind: .time(max(.zero, duration))) }
  /// This many seconds after the run began.
  public static func seconds(_ seconds: some BinaryInteger) -> Moment { after(.seconds(seconds)) }
  /// This many seconds after the run began.
  public static func seconds(_ seconds: Double) -> Moment { after(.seconds(seconds)) }
  /// This many milliseconds after the run began.
  public static func milliseconds(_ milliseconds: some BinaryInteger) -> Moment { after(.milliseconds(milliseconds)) }
  /// This many minutes after the run began.
  public static func minutes(_ minutes: some BinaryInteger) -> Moment { after(.seconds(60 * Int64(clamping: minutes))) }
  /// When the run's nth checkpoint is durable, before the handler knows. 1 is the first.
  public static func checkpoint(_ number: Int) -> Moment { Moment(kind: .checkpoint(number)) }
  /// When the run asks for its nth checkpoint, before it is written. 1 is the first.
  public static func beforeCheckpoint(_ number: Int) -> Moment { Moment(kind: .beforeCheckpoint(number)) }
  /// When the run's nth write or deletion of a state value is durable. 1 is the first.
  public static func stateWrite(_ number: Int) -> Moment { Moment(kind: .stateWrite(number)) }
  /// When the run's nth submission is durable. 1 is the first.
  public static func submission(_ number: Int) -> Moment { Moment(kind: .submission(number)) }
  /// When the run has reported this much as completed.
  public static func progress(_ completed: UInt64) -> Moment { Moment(kind: .progress(completed)) }

  /// The moment in words.
  public var description: String {
    switch kind {
    case .time(let time): "at \(time)"
    case .checkpoint(let number): "at checkpoint \(number)"
    case .beforeCheckpoint(let number): "before checkpoint \(number)"
    case .stateWrite(let number): "at state write \(number)"
    case .submission(let number): "at submission \(number)"
    case .progress(let completed): "at progress \(completed)"
    }
  }
}
