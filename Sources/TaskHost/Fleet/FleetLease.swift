import CTaskHostSystem
import FleetStore
import Glibc
import HostThreads
import Logging
import TaskModel

/// Keeps the host's lease in its fleet, and says so as soon as what the host holds could be somebody else's.
///
/// The host counts its lease from before it sent the renewal, on the clock that goes on through suspends, and ends it earlier than the
/// database does: by then its runs are dead. Two threads: one talks to the database, and may wait for it; the other watches the clock alone.
///
/// - Source: the rule is that of Chubby's and etcd's leases; M. Kleppmann, "How to do distributed locking" (2016), for the token.
final class FleetLease: Sendable {
  private struct State {
    /// The identifiers of the fleet that the host has plugins for.
    var identifiers: [TaskIdentifier] = []
    var incarnation: String?
    /// When the host's runs must have ended, on the boot clock.
    var end: Int64 = 0
    var isDraining = false
    /// Whether somebody has drained the host, in this lease or an earlier one, as of the last renewal.
    var isDrained = false
    /// The incarnation that joined last.
    var last: String?
    /// The incarnation that is to give up what it holds, and why.
    var leaving: (incarnation: String, reason: String)?
    var hasJoined = false
    var awakeSince = WallTime.distantPast
    var members = 1
    var renewals = 0
    var trouble = FleetTrouble()
    /// Whether the next renewal is not to wait for its time.
    var isDue = false
    var isOver = false
  }

  private let place: FleetPlace
  /// The database's clock.
  let clock = FleetClock()
  private let state = Guarded(State())
  /// Arms the watching thread.
  private let timer: Int32
  private let stopper: Int32
  /// The lease has begun, or draining has: there may be something to claim.
  private let changed: @Sendable () -> Void
  /// Whether nothing runs any more that an earlier incarnation held.
  private let mayJoin: @Sendable () -> Bool
  /// Says until when, on the boot clock, the workers of these identifiers may run: 0 sets no end for those that start from now on, and nil leaves
  /// the end as it is.
  private let lasts: @Sendable ([TaskIdentifier], Int64?) -> Void
  /// The lease has ended.
  private let ended: @Sendable () -> Void
  private let log: Logger

  init(
    _ place: FleetPlace, log: Logger, mayJoin: @escaping @Sendable () -> Bool,
    lasts: @escaping @Sendable ([TaskIdentifier], Int64?) -> Void, changed: @escaping @Sendable () -> Void,
    ended: @escaping @Sendable () -> Void
  ) throws(HostFailure) {
    (self.place, self.log, self.mayJoin, self.lasts, self.changed, self.ended) = (place, log, mayJoin, lasts, changed, ended)
    timer = taskhost_system_boot_timer_create()
    stopper = taskhost_system_event_create()
    guard timer >= 0, stopper >= 0 else { throw HostFailure(.temporary, "fleet: \(ErrorNumber.last)") }
  }

  deinit {
    close(timer)
    close(stopper)
  }

  /// The incarnation whose lease lasts; nil if there is none.
  var incarnation: String? {
    state.withLock { $0.incarnation.flatMap { [end = $0.end] in SystemClock.bootNanoseconds < end ? $0 : nil } }
  }

  /// The identifiers of the fleet that the host has plugins for.
  var identifiers: [TaskIdentifier] { state.withLock { $0.identifiers } }

  /// From now on, the host has plugins for these. The others learn of it at once, if the database is there.
  func set(_ identifiers: [TaskIdentifier]) {
    let hasChanged = state.withLock { state in
      guard state.identifiers != identifiers else { return false }
      (state.identifiers, state.isDue) = (identifiers, true)
      return true
    }
    guard hasChanged else { return }
    lasts(identifiers, nil)
    state.broadcast()
    changed()
  }

  /// Whether somebody wants the host to take nothing more.
  var isDraining: Bool { state.withLock { $0.isDraining } }

  /// Whether the host is to give up what it holds.
  var isLeaving: Bool { state.withLock { $0.incarnation != nil && $0.leaving?.incarnation == $0.incarnation } }

  /// Why that is so, or was.
  var leavingReason: String { state.withLock { $0.leaving?.reason ?? "" } }

  /// Since when hosts of the fleet have been up without a gap: occurrences before it were missed.
  var awakeSince: WallTime { state.withLock { $0.awakeSince } }

  /// How many hosts the fleet has, with this one.
  var members: Int { state.withLock { $0.members } }

  /// Why the database cannot be reached; nil if it can.
  var trouble: String? { failure.map { "\($0)" } }
  var failure: FleetError? { state.withLock { $0.trouble.failure } }
  /// Since when that is so.
  var failingSince: WallTime? { state.withLock { $0.trouble.since } }

  func begin() throws(HostFailure) {
    do {
      try HostThread.start("fleet-lease") { [self] in keep() }
      try HostThread.start("fleet-guard", precise: true) { [self] in guardEnd() }
    } catch { throw HostFailure(.temporary, "fleet: \(error)") }
  }

  func stop() {
    state.withLock { $0.isOver = true }
    state.broadcast()
    taskhost_system_event_set(stopper)
  }

  // MARK: The thread that talks to the database

  private func keep() {
    var session: FleetSession?
    var left: Int64?
    var watch: FleetWatch?
    var failures = 0
    while !state.withLock({ $0.isOver }) {
      var pause: Duration
      do throws(FleetError) {
        let open = if let session { session } else { try place.connect(left: left) }
        (session, left) = (open, nil)
        // Not before: connecting may take as long as a lease.
        let asked = SystemClock.bootNanoseconds
        var others = watch ?? FleetWatch(lasting: open.lease - FleetPlace.margin(of: open.lease))
        defer { watch = others }
        pause = try renew(open, &others, asked: asked)
        failures = 0
        let (wasAway, isNews) = state.withLock { ($0.trouble.failure != nil, $0.trouble.end()) }
        if isNews { log.notice("the fleet's database answers again") }
        if wasAway { changed() }
      } catch {
        left = session?.left ?? left
        session = nil
        failures += 1
        pause = place.pause(after: failures)
        if error == .fenced {
          guard !state.withLock({ $0.isOver }) else { return }
          end(because: "another host or an operator has fenced it")
          pause = .zero
        } else {
          note(error)
        }
      }
      let until = SystemClock.now + pause
      let hadLease = incarnation != nil
      state.wait { state -> Guarded<State>.Look<Void> in
        let isDue = failures == 0 && state.isDue
        guard state.isOver || SystemClock.now >= until || state.incarnation == nil && hadLease || isDue else { return .again(by: until) }
        state.isDue = false
        return .done(())
      }
    }
  }

  /// Joins the fleet, or renews the lease. Returns how long until the next renewal, or until another host may be silent for too long.
  private func renew(_ session: FleetSession, _ watch: inout FleetWatch, asked: Int64) throws(FleetError) -> Duration {
    // So often that what a dead host held is taken over within its lease and a second.
    let pause = session.lease / 4
    guard let known = state.withLock({ $0.incarnation }) else {
      // What an earlier incarnation held may not go on in the next one's lease.
      guard mayJoin() else { return .milliseconds(100) }
      // Who loses a lease is drained still, also if somebody drained it after its last renewal.
      let (isDrained, last) = state.withLock { ($0.isDrained, $0.last) }
      var host = place.host
      host.identifiers = identifiers
      let incarnation = try session.register(host, isDraining: isDrained, after: last)
      state.withLock { $0.last = incarnation }
      // What it claims at once may have been missed.
      let first = try session.renew(incarnation, identifiers: host.identifiers)
      state.withLock { ($0.awakeSince, $0.members, $0.isDrained) = (first.awakeSince, first.others.count + 1, first.isDraining) }
      hold(incarnation, from: asked, session.lease, isDraining: first.isDraining, isNew: true)
      let isAgain = state.withLock { state in
        defer { state.hasJoined = true }
        return state.hasJoined
      }
      log.notice("joined the fleet\(isAgain ? " again" : "")", metadata: ["incarnation": "\(incarnation)"])
      // It looks at the others at once.
      return .zero
    }
    let renewal = try session.renew(known, identifiers: identifiers, silent: watch.silent(at: asked))
    if let time = renewal.at { clock.note(time, asked: asked) }
    watch.note(renewal.others, at: SystemClock.bootNanoseconds)
    let isSecond = state.withLock { state in
      (state.awakeSince, state.members, state.isDrained) = (renewal.awakeSince, renewal.others.count + 1, renewal.isDraining)
      state.renewals = state.renewals.adding(saturating: 1)
      return state.renewals == 2
    }
    hold(known, from: asked, session.lease, isDraining: renewal.isDraining, isNew: false)
    if renewal.isLeaving {
      giveUp(known, because: "an operator has fenced it") {
        $0.notice("an operator wants what this host holds of the fleet for others: its runs of the fleet are stopped")
      }
    }
    if renewal.requeued > 0 {
      log.warning("\(renewal.requeued) requests of hosts whose lease had ended are ready again")
      changed()
    }
    // At the second renewal the agent waits for work, and learns that notifications come.
    if renewal.requeued > 0 || isSecond { try session.notify() }
    return min(pause, watch.next(after: SystemClock.bootNanoseconds).map { $0 + .milliseconds(1) } ?? pause)
  }

  private func hold(_ incarnation: String, from asked: Int64, _ lease: Duration, isDraining: Bool, isNew: Bool) {
    let end = asked.adding(saturating: (lease - FleetPlace.margin(of: lease)).wholeNanoseconds)
    // Before anything is claimed in this lease: a frozen host kills nothing itself.
    lasts(identifiers, end)
    let (hasChanged, wasDraining) = state.withLock { state in
      // This lease has ended a moment ago: the next turn joins anew.
      guard SystemClock.bootNanoseconds < end, state.incarnation == (isNew ? nil : incarnation) else { return (false, false) }
      defer { (state.incarnation, state.end, state.isDraining) = (incarnation, end, isDraining) }
      return (state.incarnation == nil || state.isDraining != isDraining, state.isDraining)
    }
    taskhost_system_boot_timer_set(timer, end)
    guard hasChanged else { return }
    if isDraining {
      log.notice("this host drains for the fleet: it takes nothing more of it")
    } else if wasDraining {
      log.notice("this host takes requests of the fleet again")
    }
    changed()
  }

  /// The host is to give up what it holds, once nothing of it runs any more; it joins again then.
  ///
  /// - Parameter reason: For people who look at the fleet's hosts.
  func giveUp(_ incarnation: String, because reason: String, _ tell: (Logger) -> Void) {
    let isNew = state.withLock { state in
      guard state.leaving?.incarnation != incarnation else { return false }
      state.leaving = (incarnation, reason)
      return true
    }
    guard isNew else { return }
    tell(log)
    changed()
  }

  /// The host has given up its lease: nothing runs of what it held. It joins again. Called on the agent's thread.
  func gaveUp(_ incarnation: String) {
    end(incarnation) { $0.notice("this host has given up what it held of the fleet") }
    state.broadcast()
  }

  private func note(_ failure: FleetError) {
    if state.withLock({ $0.trouble.begin(failure) }) { log.error("\(failure)") }
  }

  // MARK: The thread that watches the clock

  private func guardEnd() {
    var polled = [pollfd(fd: timer, events: Int16(POLLIN), revents: 0), pollfd(fd: stopper, events: Int16(POLLIN), revents: 0)]
    while !state.withLock({ $0.isOver }) {
      poll(&polled, 2, -1)
      guard polled[0].revents != 0 else { continue }
      let isOver = state.withLock { $0.incarnation != nil && SystemClock.bootNanoseconds >= $0.end }
      if isOver {
        end(because: "it could not be renewed in time")
      } else if state.withLock({ $0.incarnation == nil }) {
        taskhost_system_boot_timer_set(timer, 0)
      }
    }
  }

  private func end(because reason: String) {
    end { $0.error("the lease in the fleet has ended, \(reason): what the host held belongs to others, and its runs are killed") }
  }

  /// - Parameter only: Nothing is done if the host has another incarnation by now; nil for any.
  private func end(_ only: String? = nil, _ tell: (Logger) -> Void) {
    let hadOne = state.withLock { state in
      guard let incarnation = state.incarnation, only == nil || only == incarnation else { return false }
      (state.incarnation, state.isDraining) = (nil, false)
      return true
    }
    guard hadOne else { return }
    taskhost_system_boot_timer_set(timer, 0)
    tell(log)
    // Before the next lease can begin.
    ended()
    lasts(identifiers, 0)
  }
}
