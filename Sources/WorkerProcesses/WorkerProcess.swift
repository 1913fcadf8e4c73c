import CCrashCell
import CTaskHostSystem
import Glibc
import HostThreads
import TaskModel
import WorkerLink

/// One worker process: its link, its outputs, its end.
///
/// It never waits for the process: what the link does not take at once is kept for it, so much and no more.
final class WorkerProcess: WorkerEventLoop.Watcher, @unchecked Sendable {
  // reason: what changes is touched with `monitor` held, or on the loop's thread alone

  /// What it tells, on the loop's thread.
  protocol Owner: AnyObject, Sendable {
    func received(_ message: WorkerMessage, from process: WorkerProcess)
    func wrote(_ line: LogLine, in process: WorkerProcess)
    /// It sent what is no message. No further message is received.
    func broke(_ process: WorkerProcess, _ reason: String)
    /// It has ended and is reaped, its group with it; nothing follows.
    func ended(_ process: WorkerProcess, _ end: WorkerEnd)
  }

  private enum Purpose: UInt8 { case link, end, output, errors }

  /// Counts the processes of this host; the number of an incident.
  let number: UInt64
  let processID: pid_t
  private let loop: WorkerEventLoop
  private let link: LinkSocket
  private let processDescriptor: Int32
  private let cell: UnsafeMutablePointer<taskhost_crash_cell>
  private let owner: any Owner
  private let cgroups: WorkerCgroups?
  /// nil: it has none of its own.
  private let cgroup: WorkerCgroup?
  /// What it is to be confined to.
  let confinement: Confinement
  /// What its control group should limit and does not, and entitlements without effect, a sentence each.
  private let lacking: [String]

  // With `monitor` held.
  private let monitor = Monitor()
  private var outbox: [EncodedMessage] = []
  private var outboxBytes = 0
  private var blockedSince: MonotonicTime?
  private var isGone = false
  private var peakWhenKilled: UInt64 = 0
  /// The host's own, when it spawned the process.
  private let hostPeak = taskhost_process_peak_resident(0)
  /// The system would not send a message: the process would wait for it for ever.
  private var hasLost = false

  private var openCalls = 0
  private var openCallBytes = 0
  private let openCallBytesLimit: Int
  /// Each waits in a thread of its own.
  private static let openCallLimit = 32_768

  // The loop thread's own.
  private var tokens: [Purpose: UInt64] = [:]
  private var output: WorkerOutput?
  private var errors: WorkerOutput?
  private var isBroken = false
  private static let outboxLimit = 16 << 20

  /// Starts the process; on the spawner's thread.
  init(
    _ spec: WorkerSpec, number: UInt64, loop: WorkerEventLoop, cgroups: WorkerCgroups?, owner: any Owner
  ) throws(WorkerSpawn.Failure) {
    let spawned = try WorkerSpawn.start(spec)
    // It waits for its boot message: nothing of the plugin runs outside of the group.
    let placed = cgroups?.place(
      spawned.process, number: number, memory: spec.confinement.memory, processes: spec.confinement.processes)
    self.cgroups = cgroups
    cgroup = placed?.group
    confinement = spawned.confinement
    lacking = (placed?.missing ?? []) + spawned.ignored
    self.number = number
    openCallBytesLimit = max(64 << 20, min(spec.confinement.memory, 1 << 30))
    self.loop = loop
    self.owner = owner
    processID = spawned.process
    processDescriptor = spawned.processDescriptor
    link = LinkSocket(descriptor: spawned.link)
    cell = spawned.cell
    output = WorkerOutput(descriptor: spawned.output, stream: .stdout) { [unowned self] in owner.wrote($0, in: self) }
    errors = WorkerOutput(descriptor: spawned.errors, stream: .stderr) { [unowned self] in owner.wrote($0, in: self) }
  }

  deinit {
    munmap(cell, MemoryLayout<taskhost_crash_cell>.size)
    Glibc.close(processDescriptor)
    Glibc.close(link.descriptor)
  }

  /// Begins to receive. The loop keeps the object until the process has ended.
  func attach() {
    let descriptors: [(Purpose, Int32?)] = [
      (.link, link.descriptor), (.end, processDescriptor), (.output, output?.descriptor), (.errors, errors?.descriptor),
    ]
    // The end is watched last: until then nothing here can be taken down.
    for (purpose, descriptor) in descriptors where purpose != .end { watch(purpose, descriptor) }
    watch(.end, processDescriptor)
  }

  private func watch(_ purpose: Purpose, _ descriptor: Int32?) {
    guard let descriptor, let token = loop.add(descriptor, self, purpose: purpose.rawValue) else { return }
    monitor.locked { tokens[purpose] = token }
  }

  // MARK: Its crash cell

  /// How many runs have begun in it, as it says.
  var begunCount: UInt64 { taskhost_crash_begun_count(cell) }

  /// Whether a run may have begun in it that it was sent when ``begunCount`` was `mark`. False is certain: of a process that says the truth.
  func mayHaveBegun(_ run: RunID, since mark: UInt64) -> Bool {
    // More have begun since than it remembers.
    begunCount &- mark > UInt64(TASKHOST_CRASH_RUNS) || taskhost_crash_has_begun(cell, UInt64(bitPattern: run.sequence)) != 0
  }

  // MARK: Sending, on any thread

  /// Sends a message, or keeps it until the process reads. What is sent to a process that has ended is dropped.
  ///
  /// - Returns: Whether the process gets what it is sent; false: far too much waits for it, or the system would not send it.
  @discardableResult func send(_ message: HostMessage) -> Bool {
    let encoded = message.encode()
    monitor.lock()
    defer { monitor.unlock() }
    guard !isGone else { return true }
    if outbox.isEmpty, trySend(encoded) { return !hasLost }
    outbox.append(encoded)
    outboxBytes += encoded.bytes.count
    if blockedSince == nil {
      blockedSince = SystemClock.now
      if let token = tokens[.link] { loop.watchWriting(token, true) }
    }
    return outboxBytes <= Self.outboxLimit
  }

  /// Since when it has not read what is sent to it; nil: it reads.
  var isBlockedSince: MonotonicTime? { monitor.locked { blockedSince } }

  /// With the lock held. A link that is closed takes everything: its end follows.
  private func trySend(_ message: EncodedMessage) -> Bool {
    do throws(LinkError) { return try link.send(message, wait: false) } catch {
      if case .closed = error { return true }
      hasLost = true
      return true
    }
  }

  private func flush() {
    monitor.locked {
      var sent = 0
      while sent < outbox.count, trySend(outbox[sent]) {
        outboxBytes -= outbox[sent].bytes.count
        sent += 1
      }
      outbox.removeFirst(sent)
      if sent > 0 { blockedSince = outbox.isEmpty ? nil : SystemClock.now }
      if outbox.isEmpty, let token = tokens[.link] { loop.watchWriting(token, false) }
    }
  }

  /// Kills the process with its group. Its end is told later.
  func kill() {
    monitor.locked {
      // Its number is not another's: it is reaped with the lock held.
      guard !isGone else { return }
      peakWhenKilled = taskhost_process_peak_resident(processID)
      Glibc.kill(-processID, SIGKILL)
      Glibc.kill(processID, SIGKILL)
      cgroup?.kill()
    }
  }

  /// What is not enforced on it, of which it said `itself` what it cannot enforce on its own.
  func unenforced(_ itself: [String]) -> [String] {
    let isCounted = cgroup?.limitsProcesses ?? false
    return (isCounted ? itself.filter { !$0.hasPrefix("limits.processes:") } : itself) + lacking
  }

  // MARK: Calls, on any thread

  /// Takes a call in; false: more wait for their answers than a process with that memory can have asked for.
  func beginCall(_ call: WorkerCall) -> Bool {
    monitor.locked {
      openCalls += 1
      openCallBytes += call.valueBytes
      return openCalls <= Self.openCallLimit && openCallBytes <= openCallBytesLimit
    }
  }

  /// The call is answered.
  func endCall(_ call: WorkerCall) {
    monitor.locked {
      openCalls -= 1
      openCallBytes -= call.valueBytes
    }
  }

  // MARK: The loop's thread

  /// Reads what it has written so far, an unfinished line as one that is finished.
  func readOutput() {
    for part in [output, errors].compactMap({ $0 }) {
      _ = part.read()
      part.finish()
    }
  }

  func ready(_ purpose: UInt8, writable: Bool, readable: Bool) {
    switch Purpose(rawValue: purpose) {
    case .link:
      if writable { flush() }
      if readable { receive(limit: 256) }
    case .output: if let output, !output.read() { forget(.output) }
    case .errors: if let errors, !errors.read() { forget(.errors) }
    case .end: reap()
    case nil: break
    }
  }

  /// A bounded share, so that a busy worker does not hold up the others.
  private func receive(limit: Int) {
    var left = limit
    while left > 0, !isBroken {
      left -= 1
      do throws(LinkError) {
        guard let received = try link.receive(wait: false) else { return }
        owner.received(try WorkerMessage(decoding: received), from: self)
      } catch {
        forget(.link)
        if case .closed = error { return }
        isBroken = true
        owner.broke(self, "\(error)")
      }
    }
  }

  private func reap() {
    var end = taskhost_process_end()
    let status = monitor.locked { () -> Int32 in
      let status = taskhost_process_end_group(processID, &end)
      if status == 0 { isGone = true }
      return status
    }
    guard status == 0 else { return }
    // What it sent before it died counts; so much, since nothing can follow.
    receive(limit: 100_000)
    _ = output?.read()
    _ = errors?.read()
    for purpose in [Purpose.link, .output, .errors, .end] { forget(purpose) }
    let isOutOfMemory = (cgroup?.killedForMemory ?? 0) > 0
    if let cgroup { cgroups?.discard(cgroup) }
    owner.ended(
      self,
      WorkerEnd(
        status: end.status, cpuTime: .nanoseconds(Int64(clamping: end.cpu_nanoseconds)), peakMemory: peakMemory(end),
        isOutOfMemory: isOutOfMemory, crash: CrashReport(cell)))
  }

  /// Where it was killed, as it was then; where it crashed, as it says; else as the kernel says, if that is not the host's own.
  private func peakMemory(_ end: taskhost_process_end) -> Int? {
    let kernels = end.peak_resident_bytes > hostPeak ? end.peak_resident_bytes : 0
    let peak = max(kernels, monitor.locked { peakWhenKilled }, taskhost_crash_state(cell) == 0 ? 0 : cell.pointee.peak_resident_bytes)
    return peak == 0 ? nil : Int(clamping: peak)
  }

  private func forget(_ purpose: Purpose) {
    if let token = monitor.locked({ tokens.removeValue(forKey: purpose) }) { loop.remove(token) }
    switch purpose {
    case .output:
      output.map { $0.finish() }
      output.map { _ = Glibc.close($0.descriptor) }
      output = nil
    case .errors:
      errors.map { $0.finish() }
      errors.map { _ = Glibc.close($0.descriptor) }
      errors = nil
    case .link, .end: break
    }
  }
}
