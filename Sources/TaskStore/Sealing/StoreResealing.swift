import Failpoints
import Glibc
import GRDB
public import HostThreads
public import TaskModel
public import ValueSealing

/// How far the values of an open store have the form in which they are written.
public enum SealingProgress: Sendable, Equatable {
  /// Values are being rewritten: sealed with a key, or plain (nil). The number says how many were.
  case changing(to: KeyID?, done: Int)
  /// Each value is sealed with that key, or plain (nil), and no other key is needed. `isClean`: no unused space of the file can have a plain
  /// value. The number says how many values were rewritten since the launch.
  case whole(KeyID?, isClean: Bool, done: Int)
  /// Some values do not open and stay as they are: the first of them, as a sentence, and the number of all.
  case damaged(String, count: Int)
  /// The store cannot be written; it is tried again.
  case failing(StoreError)
}

/// Brings the values of an open store into the form in which they are written now, on a thread with the lowest priority. Commits are small,
/// and rests between them let others go first. A killed host's next launch goes on with what is left.
final class StoreResealing: Sendable {
  /// The rest after a commit: as long as the commit took, at least this.
  private static let rest = Duration.milliseconds(5)
  /// The rest before a failed store is tried again.
  private static let retry = Duration.seconds(5)
  /// Values between two reports.
  private static let reported = 5000

  private let state = Guarded((isOver: false, hasEnded: false))
  private let changed: @Sendable (SealingProgress) -> Void

  /// Starts the thread.
  ///
  /// - Parameter changed: Called on the thread with each step.
  init(_ store: SQLiteRequestStore, changed: @escaping @Sendable (SealingProgress) -> Void) throws(HostThread.Failure) {
    self.changed = changed
    try HostThread.start("resealing") { [self, weak store] in
      // On Linux this applies to the calling thread only.
      _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, 19)
      run { store }
      state.withLock { $0.hasEnded = true }
      state.broadcast()
    }
  }

  /// Ends the thread and waits for it, at most for one commit.
  func stop() {
    state.withLock { $0.isOver = true }
    state.broadcast()
    _ = state.wait { (state) -> Bool? in state.hasEnded ? true : nil }
  }

  /// Returns whether to go on.
  private func pause(_ time: Duration) -> Bool {
    state.wait(until: SystemClock.now + time) { (state) -> Bool? in state.isOver ? true : nil } == nil
  }

  private func run(_ store: () -> SQLiteRequestStore?) {
    var resealing = Resealing()
    var (target, told): (KeyID?, Int) = (store()?.seals.sealing?.target, 0)
    tell(.changing(to: target, done: 0))
    while pause(.zero), let store = store() {
      do throws(StoreError) {
        let begun = SystemClock.now
        guard let slice = try store.lookForValues(&resealing, target) else {
          return try finish(store, target, resealing)
        }
        let before = resealing.rewritten
        try store.rewrite(slice, &resealing)
        if resealing.rewritten / Self.reported > told / Self.reported { tell(.changing(to: target, done: resealing.rewritten)) }
        told = resealing.rewritten
        guard resealing.rewritten == before || pause(max(Self.rest, SystemClock.now - begun)) else { return }
      } catch {
        tell(.failing(error))
        // A slice that was undone is found again.
        resealing = Resealing()
        (target, told) = (store.seals.sealing?.target, 0)
        guard pause(Self.retry) else { return }
      }
    }
  }

  private func finish(_ store: SQLiteRequestStore, _ target: KeyID?, _ resealing: Resealing) throws(StoreError) {
    if let first = resealing.damaged.first { return tell(.damaged(first.description, count: resealing.damagedCount)) }
    let isClean = try store.becomeWhole(target)
    Failpoint.valuesWhole.hit()
    tell(.whole(target, isClean: isClean, done: resealing.rewritten))
  }

  private func tell(_ step: SealingProgress) { if !state.withLock({ $0.isOver }) { changed(step) } }
}

extension SQLiteRequestStore {
  /// Starts to bring all values into the form in which they are written now, if some may have another. Call it once.
  ///
  /// - Parameter changed: Called with each step, on a thread of the store, also after ``adopt(_:)``.
  public func beginResealing(changed: @escaping @Sendable (SealingProgress) -> Void) throws(HostThread.Failure) {
    resealing.withLock { $0.changed = changed }
    try continueResealing()
  }

  /// Calls `body` with a sentence about each value that does not open, on the thread that needs it.
  public func observeDamagedValues(_ body: @escaping @Sendable (String) -> Void) { seals.observe { body($0.description) } }

  /// The keys in force; nil if no value is sealed, nor to be sealed.
  public var sealing: StoreSealing? { seals.sealing }

  /// Throws `sealed` if the store could not be opened with these keys.
  public func check(_ sealing: StoreSealing?) throws(StoreError) {
    try read { try SealingRecord.check(sealing, in: $0) }
  }

  /// Writes values with other keys from now on, and begins to rewrite what was written before. Waits for a commit in progress.
  public func adopt(_ sealing: StoreSealing?) throws(StoreError) {
    try check(sealing)
    stopResealing()
    do {
      try pool.writeWithoutTransaction { database in
        try SealingRecord.begin(sealing, isNew: false, in: database)
        seals.set(sealing)
      }
    } catch {
      // What was to be rewritten still is.
      try? continueResealing()
      throw StoreError(error)
    }
    do { try continueResealing() } catch { throw .other("\(error)") }
  }

  private func continueResealing() throws(HostThread.Failure) {
    guard let changed = resealing.withLock({ $0.changed }) else { return }
    // A store that cannot be read is tried again by the thread.
    if let record = try? read({ try SealingRecord($0) }), record.isWhole {
      if record.key != nil { changed(.whole(record.key, isClean: record.isClean, done: 0)) }
      return
    }
    let thread = try StoreResealing(self, changed: changed)
    resealing.withLock { $0.thread = thread }
  }

  /// Ends the rewriting of values, at the latest with its next commit.
  func stopResealing() {
    let thread = resealing.withLock { resealing in
      defer { resealing.thread = nil }
      return resealing.thread
    }
    thread?.stop()
  }

  fileprivate func lookForValues(_ resealing: inout Resealing, _ target: KeyID?) throws(StoreError) -> Resealing.Slice? {
    try read { try resealing.look($0, target) }
  }

  fileprivate func rewrite(_ slice: Resealing.Slice, _ resealing: inout Resealing) throws(StoreError) {
    guard !slice.isEmpty else { return }
    let done = resealing
    resealing = try commit { transaction in
      guard let transaction = transaction as? SQLiteTransaction else { return done }
      var next = done
      try next.rewrite(slice, seals, transaction.database)
      Failpoint.valuesRewritten.hit()
      return next
    }
  }

  /// - Returns: Whether the file is clean.
  fileprivate func becomeWhole(_ target: KeyID?) throws(StoreError) -> Bool {
    try commit { transaction in
      guard let database = (transaction as? SQLiteTransaction)?.database else { return false }
      try SealingRecord.becomeWhole(target, in: database)
      return try SealingRecord(database)?.isClean ?? false
    }
  }
}
