import Glibc

/// What a plugin must leave as it is in its process.
struct ProcessMarks {
  private var marks: [(name: String, value: String)] = []

  /// As it is now.
  init() {
    let status = ProcFile.text("/proc/self/status")
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let directory = getcwd(&path, path.count).map { String(cString: $0) } ?? "none"
    marks = [
      ("working directory", directory),
      ("umask", ProcFile.value("Umask", in: status)),
      ("locale", setlocale(LC_ALL, nil).map { String(cString: $0) } ?? "none"),
      ("credentials", Self.credentials(in: status)),
      ("standard descriptors", (0..<Int32(3)).map(Self.file).joined(separator: "; ")),
    ]
    for number in 1..<Int32(65) {
      var action = sigaction()
      guard sigaction(number, nil, &action) == 0 else { continue }
      marks.append(("signal dispositions", "signal \(number): \(Self.name(of: action))"))
    }
  }

  /// Of `self`, the process's first thread, or of `thread-self`.
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
    case 0: return "default"
    case 1: return "ignored"
    default: return "a handler at 0x\(String(address, radix: 16))"
    }
  }

  /// Tells what is different since `before`.
  func compare(with before: ProcessMarks, after what: String, _ reporter: CaseReporter) {
    for (old, new) in zip(before.marks, marks) where old.value != new.value {
      reporter.breach(
        "\(what) left the \(old.name) changed: from \(old.value) to \(new.value)", HeaderRules.marks[old.name] ?? "")
    }
  }
}
