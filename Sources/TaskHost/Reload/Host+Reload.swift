import Glibc
import HostThreads
import HostWatches
import Logging
import PluginTrust
public import RecordJSON
import Synchronization
public import TaskModel
import TaskScheduler
import TypedCalls

// A reload is a launch beside the running one: everything is read and verified first, then put in force at once, by one commit of the
// scheduler. Until that commit, nothing has changed; from then on, everything that begins is new.

extension Host {
  /// Begins to watch what a reload would read.
  ///
  /// - Parameter inForce: What the host was launched with.
  func watchSources(_ inForce: ReloadSources) {
    guard reloading != nil else { return }
    do throws(WatchFailure) {
      let watch = try ReloadWatch(configuration, inForce, board: board, log: log) { [weak self] in
        Task { await self?.reload(because: .changes) }
      }
      reloadWatch.withLock { $0 = watch }
    } catch { ReloadWatch.fail(error, board, log) }
  }

  /// Reloads the host for another reason than that a client asks, after a reload that is under way. The log has the result, the audit too.
  public func reload(because cause: ReloadCause) async {
    if cause == .hangup, hangupWaits.exchange(true, ordering: .acquiring) { return }
    await reloadTurn.wait()
    if cause == .hangup { hangupWaits.store(false, ordering: .releasing) }
    do throws(RequestRefusal) {
      let report = try await reloadInTurn(isDry: false, by: cause.rawValue)
      await reloading?.recorded(cause, report)
    } catch {
      guard cause == .changes, error.code == .conflict else { return }
      reloadWatch.withLock { $0 }?.failed(error.message.split(separator: "\n").map(String.init))
    }
  }

  /// Reads the configuration, the plugins and the keys anew, and puts them in force. Live runs end with what they began with.
  ///
  /// - Parameters:
  ///   - isDry: Whether only to say what would change. Changed plugins are then launched in workers too, to see that they can be.
  ///   - who: Who asks, for the log.
  /// - Throws: `conflict` with all that is wrong, a line each, if it cannot be put in force: nothing has changed then.
  public func reload(isDry: Bool, by who: String) async throws(RequestRefusal) -> ReloadReport {
    guard reloadTurn.take() else { throw RequestRefusal(.conflict, "another reload is under way: wait for its end") }
    return try await reloadInTurn(isDry: isDry, by: who)
  }

  /// The same for a caller that has the turn, which is given to the next at the end.
  func reloadInTurn(isDry: Bool, by who: String) async throws(RequestRefusal) -> ReloadReport {
    defer { reloadTurn.leave() }
    guard let reloading else { throw RequestRefusal(.unsupported, "this host does not know where its configuration is") }
    guard phase == .launched, !isAskedToEnd else { throw RequestRefusal(.unavailable, "the host is draining: the next one reads it all") }
    if !isDry { reloading.begun() }
    defer { if !isDry, !isAskedToEnd { reloading.ended() } }
    do throws(RequestRefusal) { return try await reload(reloading, isDry: isDry, by: who) } catch {
      if !isDry {
        for line in error.message.split(separator: "\n") { log.error("not reloaded: \(line)", metadata: ["by": "\(who)"]) }
      }
      throw error
    }
  }

  private func reload(_ reloading: Reloading, isDry: Bool, by who: String) async throws(RequestRefusal) -> ReloadReport {
    let copies = try await onThread { .success(self.parts.copies.present()) }
    /// Removes the copies of plugins that only this reload has made: it is not put in force.
    func leaveNothing() async { _ = try? await onThread { .success(self.parts.copies.removeAllBut(copies)) } }
    let prepared: PreparedReload
    do throws(RequestRefusal) {
      prepared = try await onThread { Self.result { () throws(ReloadFailure) in try self.prepare(reloading, isDry: isDry) } }
    } catch {
      await leaveNothing()
      throw error
    }
    let plan = prepared.plan(besides: fleet?.identifiers ?? []) { self.put(prepared, payloads: $0) }
    let adopted: AdoptedPlan
    do throws(RequestRefusal) { adopted = try await ask { self.scheduler.adopt(plan, isRehearsal: isDry, completion: $0) } } catch {
      try? await onThread { .success(prepared.discard()) }
      await leaveNothing()
      // It is not the request that is at fault.
      throw error.code == .unavailable ? error : RequestRefusal(.conflict, error.message)
    }
    guard !isDry else {
      try? await onThread { .success(prepared.discard()) }
      await leaveNothing()
      return prepared.report
    }
    log.notice("reloaded: \(prepared.report.count.map { "\($0) changed" } ?? "nothing has changed")", metadata: ["by": "\(who)"])
    if let fleet {
      // What a new plugin has submitted for the fleet waits in the store, until what it has cancelled there is found.
      fleet.agent.cancelForLaunch(prepared.plugins.cancelled(among: fleet.identifiers))
      fleet.agent.parking.added()
      fleet.agent.wake()
    }
    for (request, refusal) in adopted.refused { log.warning("a launch submission for \(request.identifier) was refused: \(refusal)") }
    // It is in force: if no thread can be had for the rest, that waits for the next reload.
    try? await onThread { .success(self.conclude(prepared)) }
    return prepared.report
  }

  private static func result<Value>(_ body: () throws(ReloadFailure) -> Value) -> Result<Value, RequestRefusal> {
    Result(catching: body).mapError(\.refusal)
  }

  private func prepare(_ reloading: Reloading, isDry: Bool) throws(ReloadFailure) -> PreparedReload {
    // One that somebody must write to first would hold up this reload, and all later ones.
    var info = stat()
    if let file = self.configuration.file, stat(file, &info) == 0, info.st_mode & S_IFMT != S_IFREG {
      throw ReloadFailure(["\(file) is not a regular file, so it cannot be read anew: restart the host, or put a file in its place"])
    }
    let configuration: HostConfiguration
    do throws(ConfigurationError) { configuration = try reloading.load() } catch {
      throw ReloadFailure("\(error)".split(separator: "\n").map(String.init))
    }
    // Before the plugins are looked at: what changes from then on is noticed.
    return try PreparedReload(self, configuration, ReloadSources(of: configuration), isDry: isDry)
  }

  /// Puts everything in force that the scheduler does not have. Called on its thread, once its part is durable.
  private func put(_ prepared: PreparedReload, payloads: TypedPayloads) -> any Launcher {
    rules.set(prepared.rules)
    parts.services.add(prepared.plugins.registered.map(\.identifiers))
    events.begin(prepared.tellers)
    events.notices.set(prepared.rules.configuration.noticeRules)
    fleet?.set(schedulesOf: prepared.rules.configuration)
    fleet?.set(prepared.plugins.registered.flatMap(\.contracts))
    return launched.withLock { launched in
      let launcher = launched.launcher.serving(prepared.plugins.registered, payloads: payloads)
      launched = Launched(registry: prepared.plugins, specs: prepared.specs, launcher: launcher)
      return launcher
    }
  }

  /// Ends what is not in force any more, and keeps what was found out for the next launch. May block.
  private func conclude(_ prepared: PreparedReload) {
    prepared.before.tellers.stop(except: prepared.tellers)
    adopt(prepared.sealing)
    for key in prepared.report.keys {
      let values = key.isSecret ? "" : ": \(key.before ?? "unset") → \(key.after ?? "unset")"
      log.info("reloaded \(key.name)\(values)")
    }
    for plugin in prepared.plugins.registered where !plugin.isKept { plugin.logRegistration(to: log) }
    prepared.launching.conclude(prepared.plugins, leaving: prepared.before.launched.registry.registered, log)
    launchedFiles.replace(with: prepared.plugins.files)
    reloadWatch.withLock { $0 }?.reloaded(prepared.rules.configuration, prepared.sources)
    for problem in board.replace(.approvalNeeded, with: prepared.plugins.held.map(\.pending.problem)) { log.warning("\(problem.text)") }
    for problem in board.replace(.configuration, with: prepared.rules.configuration.problems(withHandlersFor: prepared.plugins.known)) {
      log.warning("\(problem.text)")
    }
  }
}
