import Glibc
import HostThreads
public import PluginTrust
import TaskModel

/// Checks a plugin case by case. Each case runs in its own process.
///
/// The plugin's code runs with the caller's rights and without a sandbox, except in the case `worker`. The checking process never loads it;
/// only case processes and the worker do.
public struct PluginChecker: Sendable {
  private let subject: CheckSubject
  private let options: CheckOptions
  private let worker: WorkerTrial.Launch
  private let onResult: @Sendable (CheckResult) -> Void

  /// - Parameters:
  ///   - subject: The plugin or library to check.
  ///   - options: What to try, and how.
  ///   - worker: Launches the subject in a worker.
  ///   - onResult: Called for each case in order, once it and all cases before it are over, on the thread that calls ``run()``.
  public init(
    _ subject: CheckSubject, options: CheckOptions, worker: @escaping WorkerTrial.Launch,
    onResult: @escaping @Sendable (CheckResult) -> Void = { _ in }
  ) {
    self.subject = subject
    self.options = options
    self.worker = worker
    self.onResult = onResult
  }

  /// The report for a file that the host would refuse.
  public static func refused(_ refusal: PluginRefusal, options: CheckOptions) -> CheckReport {
    var results = [
      CheckResult(
        .file, .failed, "the host would refuse it", findings: [CheckFinding(.breach, seen: refusal.observed, rule: refusal.remedy)])
    ]
    for tried in CheckCase.allCases.dropFirst() where options.cases.isEmpty || options.cases.contains(tried) {
      results.append(CheckResult(tried, .skipped, "the host would refuse the file"))
    }
    return CheckReport(file: refusal.file, seed: options.seed, registrations: [], results: results, duration: .zero)
  }

  /// Performs all selected cases. Blocks until they have ended.
  ///
  /// - Throws: ``CheckFailure`` if a process cannot be started or a folder cannot be created.
  public func run() throws(CheckFailure) -> CheckReport {
    // Makes malloc in case processes fill allocated and freed memory, which exposes use of freed or uninitialised memory.
    if getenv("MALLOC_PERTURB_") == nil { setenv("MALLOC_PERTURB_", "165", 1) }
    let begin = SystemClock.now
    let interruption = try Interruption()
    defer { interruption.end() }
    let folder = try CheckFolder()
    defer { folder.remove() }
    do throws(HostThread.Failure) { try interruption.watch(removing: folder) } catch { throw CheckFailure(error.description) }
    // A host may load a plugin from a private copy, so the checker does too.
    let place = Place(folder: folder, interruption: interruption, file: subject.isSystem ? subject.file : try folder.copy(of: subject.file))
    var results: [CheckResult] = []
    var remarked: Set<String> = []
    func add(_ result: CheckResult) {
      var result = result
      // Report a remark that repeats in every case only once.
      result.findings.removeAll { $0.severity == .remark && !remarked.insert($0.rule).inserted }
      results.append(result)
      onResult(result)
    }
    if wants(.file) { add(fileResult) }
    // Always launch the plugin, because its registrations decide which cases apply.
    let (launch, registrations) = try perform(.launch, nil, in: place)
    if wants(.note) { add(noteResult(registrations)) }
    if wants(.launch) || launch.verdict == .failed { add(launch) }
    // Does not depend on the launch above, because a worker's environment differs from the checker's.
    if wants(.worker) { add(try workerResult(registrations, in: place)) }
    let rest = CheckCase.allCases.filter { $0.hasCaseProcess && $0 != .launch && wants($0) }
    if launch.verdict == .failed {
      for tried in rest { add(CheckResult(tried, .skipped, "it does not launch")) }
    } else {
      for result in try performAll(jobs(rest, registrations), in: place) { add(result) }
    }
    return CheckReport(
      file: subject.path, seed: options.seed, registrations: registrations, results: results, duration: SystemClock.now - begin)
  }

  private func wants(_ tried: CheckCase) -> Bool { options.cases.isEmpty || options.cases.contains(tried) }

  // MARK: Cases without a process

  private var fileResult: CheckResult {
    if let adoption = subject.adoption {
      return CheckResult(.file, .passed, "the host accepts it: \(adoption.symbol) of \(subject.file) as \(adoption.typed.signature)")
    }
    let (abi, limit) = (subject.elf?.abiVersion ?? 0, subject.handlerLimit)
    let hook = subject.elf?.hasShutdown == true ? "a shutdown hook" : "no shutdown hook"
    return CheckResult(.file, .passed, "the host accepts it: ABI \(abi), at most \(limit) handler\(limit == 1 ? "" : "s"), \(hook)")
  }

  private func noteResult(_ registrations: [HandlerRegistration]) -> CheckResult {
    guard let note = subject.elf?.note else {
      let isAdopted = subject.adoption != nil
      return CheckResult(
        .note, .skipped,
        isAdopted ? "the manifest declares the registration" : "it has none: the host learns its identifier from a probe launch")
    }
    guard !registrations.isEmpty else {
      return CheckResult(.note, .skipped, "it names \(note.identifier); nothing was registered to compare it with")
    }
    var result = CheckResult(.note, .passed, "agrees with the registration")
    guard let registered = registrations.first(where: { $0.identifier.rawValue == note.identifier }) else {
      let names = registrations.map(\.identifier.rawValue).joined(separator: ", ")
      return Self.disagreeing(result, "identifier", note.identifier, names)
    }
    let registeredBudget = registered.budget.map { "\($0.wholeMilliseconds)" } ?? "0"
    let pairs: [(String, String?, String)] = [
      ("kind", note.kind?.rawValue, registered.kind.rawValue),
      ("budget_ms", note.budgetMilliseconds.map { "\($0)" }, registeredBudget),
      ("version", note.version, registered.version ?? ""),
    ]
    for (name, said, value) in pairs where said != nil && said != value {
      result = Self.disagreeing(result, name, said ?? "", value)
    }
    return result
  }

  private static func disagreeing(_ result: CheckResult, _ name: String, _ said: String, _ registered: String) -> CheckResult {
    var result = result
    result.verdict = .failed
    result.seen = "disagrees with the registration"
    result.findings.append(
      CheckFinding(
        .breach, seen: "the note says \(name)=\(said), the plugin registers \(registered.isEmpty ? "none" : registered)",
        rule: "The note must agree with the registration, otherwise the host refuses the plugin."))
    return result
  }

  // MARK: The case in a worker

  private func workerResult(_ registrations: [HandlerRegistration], in place: Place) throws(CheckFailure) -> CheckResult {
    let begin = SystemClock.now
    let places = try place.folder.makeCase()
    defer { place.folder.remove(places) }
    let trial = WorkerTrial(
      file: place.file, path: subject.path,
      identifier: subject.adoption?.identifier ?? subject.elf?.note.flatMap { try? TaskIdentifier($0.identifier) },
      adoption: subject.adoption, handlerLimit: subject.handlerLimit, settings: options.settings, directory: places.root)
    var result = CheckResult(.worker, .passed, "a worker accepts it")
    switch try worker(trial) {
    case .failure(let failure):
      result.findings.append(
        CheckFinding(
          .breach, seen: "a worker does not accept it: \(failure.observed)",
          rule: failure.isForWantOfSwift ? HeaderRules.workerSwift : HeaderRules.worker))
    case .success(let others) where !registrations.isEmpty && others.map(\.asTold) != registrations:
      result.findings.append(
        CheckFinding(.breach, seen: "its registration in a worker differs from that in the checker", rule: HeaderRules.launchSame))
    case .success: break
    }
    if !result.findings.isEmpty { (result.verdict, result.seen) = (.failed, "") }
    result.duration = SystemClock.now - begin
    return result
  }

  // MARK: Cases with a case process

  /// The place where cases run.
  private struct Place {
    let folder: CheckFolder
    let interruption: Interruption
    /// The file to load.
    let file: String
  }

  private struct Job {
    let tried: CheckCase
    let identifier: TaskIdentifier?
  }

  private func jobs(_ cases: [CheckCase], _ registrations: [HandlerRegistration]) -> [Job] {
    cases.flatMap { tried in
      tried.runsHandler && registrations.count > 1
        ? registrations.map { Job(tried: tried, identifier: $0.identifier) } : [Job(tried: tried, identifier: nil)]
    }
  }

  private func perform(_ tried: CheckCase, _ identifier: TaskIdentifier?, in place: Place) throws(CheckFailure) -> (
    CheckResult, [HandlerRegistration]
  ) {
    let begin = SystemClock.now
    let places = try place.folder.makeCase()
    defer { place.folder.remove(places) }
    let order = CaseOrder(
      tried: tried, file: place.file, dataDirectory: places.data, handlerLimit: subject.handlerLimit,
      identifier: identifier?.rawValue ?? "", settings: options.settings, payload: options.payload, seed: options.seed,
      budget: options.budget.wholeMilliseconds, grace: options.grace?.wholeMilliseconds ?? 0, adoption: subject.adoption)
    let child = try CaseChild(order, directory: places.working)
    place.interruption.began(child.process)
    defer { place.interruption.ended(child.process) }
    let outcome = child.finish(timeout: options.timeout)
    let isBroken = outcome.findings.contains { $0.severity == .breach }
    let verdict: CheckResult.Verdict = isBroken ? .failed : outcome.skipped == nil ? .passed : .skipped
    let result = CheckResult(
      tried, of: identifier, verdict, isBroken ? "" : outcome.skipped ?? outcome.seen, findings: outcome.findings,
      duration: SystemClock.now - begin)
    return (result, outcome.registrations)
  }

  /// Performs several jobs at once, on threads that outlive their processes, and returns the results in order.
  private func performAll(_ jobs: [Job], in place: Place) throws(CheckFailure) -> [CheckResult] {
    let outcomes = jobs.map { _ in Awaited<Result<CheckResult, CheckFailure>>() }
    let waiting = Guarded(Array(zip(jobs, outcomes))[...])
    do throws(HostThread.Failure) {
      for _ in 0..<min(max(1, options.parallel), jobs.count) {
        try HostThread.start("check") {
          while let (job, outcome) = waiting.withLock({ $0.popFirst() }) {
            outcome.set(Result { () throws(CheckFailure) in try perform(job.tried, job.identifier, in: place).0 })
          }
        }
      }
    } catch { throw CheckFailure(error.description) }
    var results: [CheckResult] = []
    for outcome in outcomes { results.append(try outcome.wait().get()) }
    return results
  }
}

extension HandlerRegistration {
  /// Without the fields that a case process does not report.
  fileprivate var asTold: HandlerRegistration {
    var told = self
    told.typed = nil
    return told
  }
}

extension LaunchFailure {
  /// Whether loading failed because a Swift runtime is missing: an undefined symbol of Swift, or one of its libraries.
  fileprivate var isForWantOfSwift: Bool {
    guard step == .load else { return false }
    return ["undefined symbol: $s", "undefined symbol: swift_", "undefined symbol: _swift", "libswift"].contains { observed.contains($0) }
  }
}
