/// When something happens to a run: at a time on the virtual clock, or beside what the handler does.
///
/// A write or report that names the moment takes effect first, then the interruption, then the call returns; so it is exact, however the
/// threads are scheduled.
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

  /// That long after the run has begun.
  public static func after(_ duration: Duration) -> Moment { Moment(kind: .time(max(.zero, duration))) }
  /// That many seconds after the run has begun.
  public static func seconds(_ seconds: some BinaryInteger) -> Moment { after(.seconds(seconds)) }
  /// That many seconds after the run has begun.
  public static func seconds(_ seconds: Double) -> Moment { after(.seconds(seconds)) }
  /// That many milliseconds after the run has begun.
  public static func milliseconds(_ milliseconds: some BinaryInteger) -> Moment { after(.milliseconds(milliseconds)) }
  /// That many minutes after the run has begun.
  public static func minutes(_ minutes: some BinaryInteger) -> Moment { after(.seconds(60 * Int64(clamping: minutes))) }
  /// When the run's nth checkpoint has become durable, before the handler learns of it. 1 is the first.
  public static func checkpoint(_ number: Int) -> Moment { Moment(kind: .checkpoint(number)) }
  /// When the run asks for its nth checkpoint to be written, before it is. 1 is the first.
  public static func beforeCheckpoint(_ number: Int) -> Moment { Moment(kind: .beforeCheckpoint(number)) }
  /// When the run's nth write or deletion of a value of its state is durable. 1 is the first.
  public static func stateWrite(_ number: Int) -> Moment { Moment(kind: .stateWrite(number)) }
  /// When the run's nth submission is durable. 1 is the first.
  public static func submission(_ number: Int) -> Moment { Moment(kind: .submission(number)) }
  /// When the run has reported that much as completed.
  public static func progress(_ completed: UInt64) -> Moment { Moment(kind: .progress(completed)) }

  /// The moment for people.
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
