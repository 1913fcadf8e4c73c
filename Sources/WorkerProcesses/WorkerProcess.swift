import CCrashCell
import CTaskHostSystem
import Glibc
import HostThreads
import TaskModel
import WorkerLink

/// One worker process: its link, its outputs, its end.
///
/// It never waits for the process: what the link does not take at once is kept for it, so much and no more.
final class WorkerProcess: WorkerEventLoop.Watcher, @unchecked Sendable {  // reason: its outputs belong to the loop's thread

  /// What it tells, on the loop's thread.
  protocol Owner: AnyObject, Sendable {
    func received(_ message: WorkerMessage, from process: WorkerProcess)
    func wrote(_ line: LogLine, in process: WorkerProcess)
    /// It sent bytes that are not a message. No further message is received.
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

  private struct State {
    var outbox: [EncodedMessage] = []
    var outboxBytes = 0
    /// How many datagrams of the next message have been sent.
    var partsSent = 0
    var blockedSince: MonotonicTime?
    var isGone = false
    var peakWhenKilled: UInt64 = 0
    /// The system would not send a message: the process would wait for it for ever.
    var hasLost = false
    var openCalls = 0
    var openCallBytes = 0
    /// What the loop knows its descriptors by.
    var tokens: [Purpose: UInt64] = [:]
  }

  private let state = Guarded(State())
  /// The host's own, when it spawned the process.
  private let hostPeak = taskhost_process_peak_resident(0)
  private let openCallBytesLimit: Int
  /// Each waits in a thread of its own.
  private static let openCallLimit = 32_768

  // The loop thread's own.
  private var output: WorkerOutput?
  private var errors: WorkerOutput?
  private var parts = MessageParts()
  private var isBroken = false
  private static let outboxLimit = 16 << 20

  /// Starts the process; on the spawner's thread.
  init(
    _ spec: WorkerSpec, number: UInt64, loop: WorkerEventLoop, cgroups: WorkerCgroups?, owner: any Owner
  ) throws(WorkerSpawn.Failure) {
    let spawned = try WorkerSpawn.start(spec)
    // It waits for its boot message: nothing of the plugin runs outside of the group.
    let limits = GroupLimits(memory: spec.confinement.memory, processes: spec.confinement.processes, processor: spec.processor)
    let placed = cgroups?.place(spawned.process, number: number, limits: limits)
    self.cgroups = cgroups
    cgroup = placed?.group
    confinement = spawned.confinement
    lacking = (placed?.missing ?? spec.processor.unenforced) + spawned.ignored
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
    state.withLock { $0.tokens[purpose] = token }
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
    return state.withLock { state in
      guard !state.isGone else { return true }
      if state.outbox.isEmpty, trySend(encoded, &state) { return !state.hasLost }
      state.outbox.append(encoded)
      state.outboxBytes += encoded.bytes.count
      if state.blockedSince == nil {
        state.blockedSince = SystemClock.now
        if let token = state.tokens[.link] { loop.watchWriting(token, true) }
      }
      return state.outboxBytes <= Self.outboxLimit
    }
  }

  /// Since when it has not read what is sent to it; nil: it reads.
  var isBlockedSince: MonotonicTime? { state.withLock { $0.blockedSince } }

  /// A link that is closed takes everything: its end follows.
  private func trySend(_ message: EncodedMessage, _ state: inout State) -> Bool {
    do throws(LinkError) {
      guard try link.send(message, after: &state.partsSent) else { return false }
    } catch {
      if error != .closed { state.hasLost = true }
    }
    state.partsSent = 0
    return true
  }

  /// Returns whether the process gets what it is sent.
  private func flush() -> Bool {
    state.withLock { state in
      let partsBefore = state.partsSent
      var sent = 0
      while sent < state.outbox.count, trySend(state.outbox[sent], &state) {
        state.outboxBytes -= state.outbox[sent].bytes.count
        sent += 1
      }
      state.outbox.removeFirst(sent)
      if sent > 0 || state.partsSent > partsBefore { state.blockedSince = state.outbox.isEmpty ? nil : SystemClock.now }
      if state.outbox.isEmpty, let token = state.tokens[.link] { loop.watchWriting(token, false) }
      return !state.hasLost
    }
  }

  /// Kills the process with its group. Its end is told later.
  func kill() {
    state.withLock { state in
      // Its number is not another's: it is reaped with the lock held.
      guard !state.isGone else { return }
      state.peakWhenKilled = taskhost_process_peak_resident(processID)
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
    state.withLock { state in
      state.openCalls += 1
      state.openCallBytes += call.valueBytes
      return state.openCalls <= Self.openCallLimit && state.openCallBytes <= openCallBytesLimit
    }
  }

  /// The call is answered.
  func endCall(_ call: WorkerCall) {
    state.withLock {
      $0.openCalls -= 1
      $0.openCallBytes -= call.valueBytes
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
      if writable, !flush() { breakOff("what it is sent does not reach it") }
      // A bounded share, so that a busy worker does not hold up the others: what it asks for may be read from the disk.
      if readable { receive(limit: 256, until: SystemClock.now + .milliseconds(5)) }
    case .output: if let output, !output.read() { forget(.output) }
    case .errors: if let errors, !errors.read() { forget(.errors) }
    case .end: reap()
    case nil: break
    }
  }

  private func receive(limit: Int, until deadline: MonotonicTime? = nil) {
    var left = limit
    while left > 0, !isBroken, deadline.map({ SystemClock.now < $0 }) ?? true {
      left -= 1
      do throws(LinkError) {
        guard let received = try link.receive(into: &parts) else { return }
        owner.received(try WorkerMessage(decoding: received), from: self)
      } catch {
        guard case .closed = error else { return breakOff("\(error)") }
        return forget(.link)
      }
    }
  }

  private func breakOff(_ reason: String) {
    forget(.link)
    guard !isBroken else { return }
    isBroken = true
    owner.broke(self, reason)
  }

  private func reap() {
    let ended = state.withLock { state -> taskhost_process_end? in
      var end = taskhost_process_end()
      guard taskhost_process_end_group(processID, &end) == 0 else { return nil }
      state.isGone = true
      return end
    }
    guard let end = ended else { return }
    // What it sent before it died counts. Another process that has its end of the link, such as a child of its own, adds nothing to that.
    link.disconnect()
    receive(limit: .max)
    _ = output?.read()
    _ = errors?.read()
    for purpose in [Purpose.link, .output, .errors, .end] { forget(purpose) }
    let isOutOfMemory = (cgroup?.killedForMemory ?? 0) > 0
    if let cgroup { cgroups?.discard(cgroup) }
    owner.ended(
      self,
      WorkerEnd(
        status: end.status, cpuTime: .nanoseconds(Int64(clamping: end.cpu_nanoseconds)), peakMemory: peakMemory(end),
        isOutOfMemory: isOutOfMemory, crash: CrashReport(cell), at: SystemClock.bootNanoseconds))
  }

  /// Where it was killed, as it was then; where it crashed, as it says; else as the kernel says, if that is not the host's own.
  private func peakMemory(_ end: taskhost_process_end) -> Int? {
    let kernels = end.peak_resident_bytes > hostPeak ? end.peak_resident_bytes : 0
    let peak = max(kernels, state.withLock { $0.peakWhenKilled }, taskhost_crash_state(cell) == 0 ? 0 : cell.pointee.peak_resident_bytes)
    return peak == 0 ? nil : Int(clamping: peak)
  }

  private func forget(_ purpose: Purpose) {
    if let token = state.withLock({ $0.tokens.removeValue(forKey: purpose) }) { loop.remove(token) }
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
