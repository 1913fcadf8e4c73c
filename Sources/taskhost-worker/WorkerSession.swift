import CProgramCode
import CTaskHostSystem
import Glibc
import HostThreads
import OpenFiles
import PluginRuntime
import TaskModel
import WorkerLink
import WorkerSandbox

/// The life of a worker after it is confined: launch, runs, shutdown.
final class WorkerSession: Sendable {
  private let boot: WorkerBoot
  private let link: HostLink
  private let calls: HostCalls
  private let launcher: ThreadLauncher
  /// Nil until the plugin has launched.
  private let plugin = Guarded<LaunchedPlugin?>(nil)

  init(_ boot: WorkerBoot, _ link: HostLink) {
    self.boot = boot
    self.link = link
    let calls = HostCalls(link)
    self.calls = calls
    do {
      launcher = try ThreadLauncher(services: HostServices(calls: calls), role: .worker) { WorkerSession.pass($0, to: link) }
    } catch { Worker.give(up: "\(error)") }
    WorkerSandbox.observeDenials { denial in link.send(LogLine(time: SystemClock().wallTime, level: .warning, message: denial), of: nil) }
  }

  /// Loads the plugin and calls its launch function on the process's first thread. A refusal ends the process.
  func launch() {
    do { try HostThread.start("link") { [self] in serveLink() } } catch { Worker.give(up: "\(error)") }
    do throws(LaunchFailure) {
      let plugin = try PluginImage.launchOnMainThread(
        LaunchOrder(
          path: boot.confinement.plugin, identifier: boot.identifier, adoption: boot.adoption,
          handlerLimit: boot.handlerLimit,
          policy: HostPolicy(calls: calls, link: link, paths: boot.identifier.map { _ in EntitledPaths(boot.confinement) })),
        budget: boot.launchBudget, late: { [link] in link.send(.refused($0)) })
      self.plugin.withLock { $0 = plugin }
      // The host must receive the plugin's output so far before it learns of the launch.
      taskhost_system_flush_output()
      link.send(
        .launched(
          LaunchReport(
            registrations: plugin.handlers.map(\.registered), changes: plugin.changes, hasShutdownHook: plugin.shutdown != nil,
            askedTooEarly: plugin.askedTooEarly)))
      taskhost_program_code_give_back(nil, 0)
    } catch {
      taskhost_system_flush_output()
      link.send(.refused(error))
      // The host ends this process, which may still hang in the plugin's code.
      while true { pause() }
    }
  }

  /// Never returns. No run uses this thread.
  func serveMainThread() -> Never {
    plugin.withLock { $0 }?.mainQueue?.serve()
    while true { pause() }
  }

  // MARK: The link's thread

  private func serveLink() {
    var contracts: [TaskIdentifier: HandlerContract] = [:]
    while true {
      switch link.receive() {
      case .boot: Worker.give(up: "the host sent a second boot message")
      case .contracts(let new):
        contracts = Dictionary(new.map { ($0.identifier, $0) }) { first, _ in first }
        // Those after the first set other limits.
        adopt(new)
      case .start(let orders): start(orders, contracts)
      case .expire(let run, let reason): launcher.expire(run, reason: reason)
      case .withdraw(let runs): launcher.withdraw(runs)
      case .suspendBudgets(let isSuspended): launcher.suspendBudgets(isSuspended)
      case .lease(let end):
        guard taskhost_system_kill_at(end) == 0 else { Worker.give(up: "no timer ends it with its host's lease: \(ErrorNumber.last)") }
      case .answer(let number, let answer): calls.answered(number, answer)
      case .shutdown: shutdown()
      }
    }
  }

  private func adopt(_ contracts: [HandlerContract]) {
    // The host sends contracts after `launched`, so the plugin exists.
    guard let plugin = plugin.withLock({ $0 }) else { Worker.give(up: "the host sent contracts before the launch") }
    launcher.add(plugin, contracts: contracts)
  }

  private func start(_ orders: [WireOrder], _ contracts: [TaskIdentifier: HandlerContract]) {
    launcher.start(
      orders.map { order in
        guard let contract = contracts[order.identifier] else { Worker.give(up: "the host ordered a run of an unknown identifier") }
        return RunOrder(
          run: order.run, request: order.request, contract: contract, attempt: order.attempt, payload: order.payload,
          arguments: order.arguments, tellsBegin: order.tellsBegin, notBefore: order.notBefore, trace: order.trace,
          fencingToken: order.fencingToken)
      })
  }

  /// The plugin's shutdown hook may take a while; the host limits its time.
  private func shutdown() -> Never {
    let left = launcher.shutdown()
    link.send(.stopped(threadsLeft: left))
    Worker.leave(0)
  }

  // MARK: Events of runs, on any thread

  private static func pass(_ event: LauncherEvent, to link: HostLink) {
    switch event {
    case .ended(let run, let ending, let report):
      // The host must receive the plugin's output so far before it learns of the run's end.
      taskhost_system_flush_output()
      link.send(WireEnding(run: run, ending: ending, report: report))
    case .expired(let run, let reason): link.send(.expired(run.run, reason))
    case .progress(let run, let progress): link.send(progress, of: run.run)
    case .work(let run, let work): link.send(work, of: run.run)
    case .log(let run, let line): link.send(line, of: run.run)
    case .stuck(let run, let thread, let stack): link.send(.stuck(run.run, thread: thread, stack: stack))
    case .output(_, let line): link.send(line, of: nil)
    // Orders do not say here that they are ahead: a begin is reported only in answer to a withdrawal, or if it counts for a rate.
    case .began(let run): link.send(.began(run))
    case .withdrawn(let run): link.send(.withdrawn(run))
    case .shortage(let identifier, let sentence, _): link.send(.shortage(identifier, sentence))
    case .misbehaved, .suspended, .resumed, .relieved: break
    }
  }
}
