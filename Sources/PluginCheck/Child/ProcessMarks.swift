import Glibc

/// The properties of the process that a plugin must not change.
struct ProcessMarks {
  private struct Mark {
    let name: String
    let value: String
    /// The number of the signal whose disposition this is; 0 for other properties.
    var signal: Int32 = 0
  }

  private var marks: [Mark] = []
  private static let asDefault = "default"

  init() {
    let status = ProcFile.text("/proc/self/status")
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let directory = getcwd(&path, path.count).map { String(cString: $0) } ?? "none"
    marks = [
      Mark(name: "working directory", value: directory),
      Mark(name: "umask", value: ProcFile.value("Umask", in: status)),
      Mark(name: "locale", value: setlocale(LC_ALL, nil).map { String(cString: $0) } ?? "none"),
      Mark(name: "credentials", value: Self.credentials(in: status)),
      Mark(name: "standard descriptors", value: (0..<Int32(3)).map(Self.file).joined(separator: "; ")),
    ]
    for number in 1..<Int32(65) {
      var action = sigaction()
      guard sigaction(number, nil, &action) == 0 else { continue }
      marks.append(Mark(name: "signal dispositions", value: Self.name(of: action), signal: number))
    }
  }

  /// The credentials of `self` (the process's first thread) or of `thread-self` (the calling thread).
  static func credentials(of whose: String) -> String { credentials(in: ProcFile.text("/proc/\(whose)/status")) }

  private static func credentials(in status: String) -> String {
    ["Uid", "Gid", "Groups"].map { ProcFile.value($0, in: status) }.joined(separator: "; ")
  }

  private static func file(behind descriptor: Int32) -> String {
    var info = stat()
    return fstat(descriptor, &info) == 0 ? "file \(info.st_ino)" : "closed"
  }

  private static func name(of action: sigaction) -> String {
    let address = withUnsafeBytes(of: action.__sigaction_handler) { $0.loadUnaligned(as: UInt.self) }
    switch address {
    case 0: return asDefault
    case 1: return "ignored"
    default: return "a handler at 0x\(String(address, radix: 16))"
    }
  }

  /// Reports changes since `before`. A changed locale or signal disposition is mostly only a remark: the runtimes of some languages set
  /// them, which is harmless in a worker.
  func compare(with before: ProcessMarks, after what: String, _ reporter: CaseReporter) {
    var handlers: [String] = []
    for (old, new) in zip(before.marks, marks) where old.value != new.value {
      let rule = HeaderRules.marks[old.name] ?? ""
      if new.signal == SIGPIPE, new.value == Self.asDefault {
        // The host may close a pipe that the plugin writes to, which must not end the process.
        reporter.breach("\(what) left SIGPIPE fatal: changed from \(old.value) to \(new.value)", HeaderRules.brokenPipe)
      } else if new.signal != 0 {
        handlers.append("signal \(new.signal) from \(old.value) to \(new.value)")
      } else if old.name == "locale" {
        reporter.remark("\(what) left the locale changed: from \(old.value) to \(new.value)", rule)
      } else {
        reporter.breach("\(what) left the \(old.name) changed: from \(old.value) to \(new.value)", rule)
      }
    }
    guard let first = handlers.first else { return }
    let others = handlers.count == 1 ? "" : " and \(handlers.count - 1) more"
    reporter.remark(
      "\(what) left signal dispositions changed: \(first)\(others)", HeaderRules.marks["signal dispositions"] ?? "",
      detail: handlers.count == 1 ? "" : handlers.joined(separator: "\n"))
  }
}
