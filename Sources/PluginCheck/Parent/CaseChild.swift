import CCrashCell
import CTaskHostSystem
import Glibc
import HostThreads
import TaskModel

/// One case process. Start it and wait for its end on the same thread: the process dies with that thread.
struct CaseChild {
  struct Outcome {
    var findings: [CheckFinding] = []
    var registrations: [HandlerRegistration] = []
    var skipped: String?
    var seen = ""
  }

  /// The leader of its group.
  let process: pid_t
  let processDescriptor: Int32
  let news: Int32
  let output: Int32
  let cell: UnsafeMutablePointer<taskhost_crash_cell>
  private static let outputLimit = 16_384
  private static let newsLimit = 4 << 20
  /// How often a pipe is read before the time is looked at: the plugin may write without pause. What a pipe holds by default takes fewer.
  private static let readsAtOnce = 16

  /// Waits at most `timeout` for the process to end, then kills its group.
  func finish(timeout: Duration) -> Outcome {
    var newsBytes: [UInt8] = []
    var outputBytes: [UInt8] = []
    let isOverdue = !waitForEnd(until: SystemClock.now + timeout, &newsBytes, &outputBytes)
    if isOverdue { kill(-process, SIGKILL) }
    var end = taskhost_process_end()
    while taskhost_process_end_group(process, &end) == 1 { waitBriefly() }
    Self.drain(news, into: &newsBytes, limit: Self.newsLimit)
    Self.drain(output, into: &outputBytes, limit: Self.outputLimit)
    defer {
      for descriptor in [processDescriptor, news, output] { close(descriptor) }
      munmap(cell, MemoryLayout<taskhost_crash_cell>.size)
    }
    return judge(newsBytes, outputBytes, end, overdue: isOverdue ? timeout : nil)
  }

  private func waitBriefly() {
    var entry = pollfd(fd: processDescriptor, events: Int16(POLLIN), revents: 0)
    poll(&entry, 1, -1)
  }

  /// Returns false if the process has not ended by `deadline`.
  private func waitForEnd(until deadline: MonotonicTime, _ newsBytes: inout [UInt8], _ outputBytes: inout [UInt8]) -> Bool {
    var entries = [processDescriptor, news, output].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while true {
      let left = (deadline - SystemClock.now).wholeMilliseconds
      guard left > 0 else { return false }
      let count = poll(&entries, nfds_t(entries.count), Int32(clamping: left + 1))
      if count < 0, errno != EINTR { return false }
      // Do not poll an ended pipe again: poll ignores negative descriptors.
      if entries[1].revents != 0, !Self.drain(news, into: &newsBytes, limit: Self.newsLimit) { entries[1].fd = -1 }
      if entries[2].revents != 0, !Self.drain(output, into: &outputBytes, limit: Self.outputLimit) { entries[2].fd = -1 }
      if entries[0].revents != 0 { return true }
    }
  }

  /// Reads the available bytes, with at most ``readsAtOnce`` calls, and drops those beyond `limit`. Returns false if the pipe has ended.
  @discardableResult private static func drain(_ descriptor: Int32, into bytes: inout [UInt8], limit: Int) -> Bool {
    var part = [UInt8](repeating: 0, count: 16_384)
    for _ in 0..<readsAtOnce {
      let count = part.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count == 0 { return false }
      guard count > 0 else {
        if errno == EINTR { continue }
        return true
      }
      bytes += part[..<min(count, limit - bytes.count)]
    }
    return true
  }

  // MARK: The verdict

  private func judge(_ newsBytes: [UInt8], _ outputBytes: [UInt8], _ end: taskhost_process_end, overdue: Duration?) -> Outcome {
    var outcome = Outcome()
    var at = "starting"
    var isDone = false
    var rest = newsBytes[...]
    while let fields = Fields.take(from: &rest), let item = CaseNews(fields) {
      switch item {
      case .at(let text): at = text
      case .finding(let finding): outcome.findings.append(finding)
      case .registered(let registration): outcome.registrations.append(registration)
      case .skipped(let why):
        outcome.skipped = why
        isDone = true
      case .done(let seen):
        outcome.seen = seen
        isDone = true
      }
    }
    if let overdue {
      outcome.findings.append(
        CheckFinding(
          .breach, seen: "the case had not ended after \(overdue.wholeMilliseconds) ms; last step: \(at)", rule: HeaderRules.timeout))
    } else if let finding = death(end, at: at, isDone: isDone, hasBreach: outcome.findings.contains { $0.severity == .breach }) {
      outcome.findings.append(finding)
    }
    add(outputBytes, to: &outcome, isDead: !isDone)
    return outcome
  }

  /// Adds the process's output. After a crash it may tell the cause (a sanitizer, an assertion); otherwise it is a finding of its own.
  private func add(_ outputBytes: [UInt8], to outcome: inout Outcome, isDead: Bool) {
    let lines = String(decoding: outputBytes, as: UTF8.self).split(separator: "\n").map(String.init)
    guard let first = lines.first else { return }
    if isDead, let last = outcome.findings.indices.last {
      let shown = ["it printed:"] + lines.prefix(16)
      outcome.findings[last].detail += (outcome.findings[last].detail.isEmpty ? "" : "\n") + shown.joined(separator: "\n")
    } else {
      let seen = "the plugin wrote to its standard output or error: \"\(first.escapingControlCharacters.prefix(160))\""
      outcome.findings.append(CheckFinding(.warning, seen: seen, rule: HeaderRules.output))
    }
  }

  /// Why the process ended before its case; nil if it did not.
  private func death(_ end: taskhost_process_end, at: String, isDone: Bool, hasBreach: Bool) -> CheckFinding? {
    let stack = taskhost_crash_state(cell) == UInt32(TASKHOST_CRASH_NOTHING) ? "" : crashText
    if taskhost_crash_state(cell) != UInt32(TASKHOST_CRASH_NOTHING), cell.pointee.cause == UInt32(TASKHOST_CRASH_EXIT) {
      // The process itself finished its case, so another process that shares the cell's memory wrote this.
      if isDone {
        let isFailedExec = cell.pointee.number == 127
        return isFailedExec
          ? nil
          : CheckFinding(
            .breach, seen: "a process that the plugin forked called exit(\(cell.pointee.number)) without exec",
            rule: HeaderRules.fork, detail: stack)
      }
      return CheckFinding(
        .breach, seen: "the plugin ended its process with exit(\(cell.pointee.number)); last step: \(at)", rule: HeaderRules.exit,
        detail: stack)
    }
    if end.status < 0, end.status != TASKHOST_PROCESS_TAKEN {
      let name = Self.signalName(-end.status)
      return CheckFinding(
        .breach, seen: "the process was killed by \(name); last step: \(at)",
        rule: -end.status == SIGSEGV ? HeaderRules.memory : HeaderRules.crash, detail: stack)
    }
    guard !isDone, !hasBreach else { return nil }
    return CheckFinding(
      .breach, seen: "the process ended with status \(end.status); last step: \(at)", rule: HeaderRules.exit, detail: stack)
  }

  private var crashText: String {
    let length = min(Int(cell.pointee.text_length), Int(TASKHOST_CRASH_TEXT))
    let bytes = UnsafeRawBufferPointer(start: taskhost_crash_text(cell), count: length)
    let text = String(decoding: bytes, as: UTF8.self)
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }

  private static func signalName(_ number: Int32) -> String {
    let names: [Int32: String] = [
      SIGSEGV: "SIGSEGV", SIGBUS: "SIGBUS", SIGILL: "SIGILL", SIGFPE: "SIGFPE", SIGABRT: "SIGABRT", SIGTRAP: "SIGTRAP", SIGSYS: "SIGSYS",
      SIGKILL: "SIGKILL", SIGTERM: "SIGTERM",
    ]
    return names[number] ?? "signal \(number)"
  }
}
