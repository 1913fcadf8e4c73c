public import CCrashCell
import CTaskHostSystem
import Glibc
public import TaskModel

/// How a worker process ended, and what its crash cell reports.
struct WorkerEnd: Sendable {
  /// The exit status, or the negative number of the signal.
  let status: Int32
  let cpuTime: Duration
  /// Bytes; nil if unknown.
  let peakMemory: Int?
  /// Whether its control group ran out of memory.
  var isOutOfMemory = false
  /// The content of its crash cell; nil if it is empty.
  let crash: CrashReport?
  /// When the host learned of it, in nanoseconds of the boot clock.
  var at: Int64 = 0

  /// Whether the kernel's timer has killed it, which was set to the end of its host's lease. At that time nothing else can have.
  func isBy(leaseEnd: Int64) -> Bool { leaseEnd > 0 && at >= leaseEnd && status == -SIGKILL && crash == nil && !isOutOfMemory }

  /// Whether it could not begin, through no fault of its plugin, if that was not loaded yet: EX_SOFTWARE.
  var isGivenUp: Bool { crash == nil && status == 70 }

  /// A sentence without its subject: "crashed: SIGSEGV at address 0x0".
  var observed: String {
    if let crash { return crash.observed }
    if status == -SIGKILL, isOutOfMemory { return "was killed by the kernel: it had used up limits.memory" }
    if status == TASKHOST_PROCESS_TAKEN {
      return "ended, how is not known: a plugin in thread isolation takes the ends of the host's processes"
    }
    return status < 0 ? "was killed by \(CrashReport.name(of: -status))" : "ended with exit status \(status)"
  }
}

/// The content of a crash cell.
public struct CrashReport: Sendable, Hashable {
  /// The run that the crashed thread served, if any.
  public let run: RunID?
  /// A sentence without its subject.
  public let observed: String
  /// The stack, one line for each frame; may be empty.
  public let stack: String
}

extension CrashReport {
  /// Reads a cell; nil if nothing happened. A hostile process may write the cell's memory meanwhile.
  public init?(_ cell: UnsafePointer<taskhost_crash_cell>) {
    guard taskhost_crash_state(cell) != UInt32(TASKHOST_CRASH_NOTHING) else { return nil }
    let (sequence, origin) = (cell.pointee.run_sequence, cell.pointee.run_origin)
    run = sequence == 0 && origin == 0 ? nil : RunID(sequence: Int64(truncatingIfNeeded: sequence), origin: origin)
    let number = cell.pointee.number
    switch cell.pointee.cause {
    case UInt32(TASKHOST_CRASH_EXIT): observed = "called exit(\(number))"
    case UInt32(TASKHOST_CRASH_SIGNAL):
      let address = cell.pointee.address
      let place = [SIGSEGV, SIGBUS].contains(number) ? " at address 0x\(String(address, radix: 16))" : ""
      observed = "crashed: \(Self.name(of: number))\(place)"
    default: observed = "crashed"
    }
    let length = min(Int(cell.pointee.text_length), Int(TASKHOST_CRASH_TEXT))
    // A copy: the text is read more than once.
    let bytes = Array(UnsafeRawBufferPointer(start: taskhost_crash_text(cell), count: length))
    let text = String(decoding: bytes, as: UTF8.self).split(separator: "\n").joined(separator: "\n")
    stack = PluginText.lines(text, limit: Limits.stackBytes)
  }

  /// The sentence and the stack below it.
  public var text: String { stack.isEmpty ? observed : observed + "\n" + stack }

  /// A name such as `SIGSEGV`; the number for unusual signals.
  static func name(of signal: Int32) -> String {
    switch signal {
    case SIGHUP: "SIGHUP"
    case SIGINT: "SIGINT"
    case SIGILL: "SIGILL"
    case SIGTRAP: "SIGTRAP"
    case SIGABRT: "SIGABRT"
    case SIGBUS: "SIGBUS"
    case SIGFPE: "SIGFPE"
    case SIGKILL: "SIGKILL"
    case SIGSEGV: "SIGSEGV"
    case SIGPIPE: "SIGPIPE"
    case SIGALRM: "SIGALRM"
    case SIGTERM: "SIGTERM"
    case SIGSYS: "SIGSYS"
    case SIGXCPU: "SIGXCPU"
    case SIGXFSZ: "SIGXFSZ"
    default: "signal \(signal)"
    }
  }
}
