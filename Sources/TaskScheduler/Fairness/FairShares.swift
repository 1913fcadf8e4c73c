import TaskModel

/// Gives the tenants of an identifier equal shares of run time.
///
/// Turns go around the tenants that wait. A run is charged to its tenant: an estimate when it is handed out, its time when it ends. A tenant
/// that owes more than another waits until that one has caught up. What a tenant did not use is not saved for later, and debts shrink as
/// others run, also those of a tenant that has nothing to do.
///
/// - Source: deficit round robin (M. Shreedhar and G. Varghese, 1995) with run time as cost and the smallest possible quantum: instead of
///   adding quanta round by round, the debt of the tenant that owes least is forgiven to all.
struct FairShares {
  /// The least charge: so many runs that take no time would otherwise be free.
  static let least: Int64 = 1_000_000
  /// Charges that are kept, at most: those of runs whose end is not reported would add up.
  static let mostCharges = 20_000

  /// What each tenant owes, in nanoseconds of run time; tenants that owe nothing are absent.
  private(set) var owed: [String: Int64] = [:]
  /// The charges of runs that have not ended.
  private var charges: [RunID: (tenant: String, cost: Int64)] = [:]
  /// What a run is expected to take.
  private var estimate = least
  /// Who was served last: of those that owe the same, the next in order comes first.
  private var last: String?

  /// In which order the tenants are served next.
  ///
  /// - Parameters:
  ///   - waiting: How many runs each could begin; tenants with none are ignored.
  ///   - most: The length of the order, unless fewer runs wait.
  mutating func order(_ waiting: [String: Int], most: Int) -> [String] {
    var left = waiting.filter { $0.value > 0 }
    forgive(left.keys.map { owed[$0] ?? 0 }.min() ?? 0)
    let tenants = left.keys.sorted()
    var (debts, last, order) = (owed, last, [String]())
    while order.count < most, !left.isEmpty {
      let least = left.keys.map { debts[$0] ?? 0 }.min() ?? 0
      let equals = tenants.filter { left[$0] != nil && debts[$0] ?? 0 <= least }
      guard let next = equals.first(where: { tenant in last.map { $0 < tenant } ?? true }) ?? equals.first else { break }
      order.append(next)
      debts[next] = (debts[next] ?? 0).adding(saturating: estimate)
      last = next
      left[next] = left[next].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
    return order
  }

  /// A run was handed out.
  mutating func begin(_ run: RunID, of tenant: String) {
    last = tenant
    guard charges.count < Self.mostCharges else { return }
    charges[run] = (tenant, estimate)
    owe(tenant, estimate)
  }

  /// A run has ended, or was taken back.
  ///
  /// - Parameter took: The time of its handler's call; nil for a run that did not begin, which costs nothing.
  mutating func end(_ run: RunID, took: Duration?) {
    guard let charge = charges.removeValue(forKey: run) else { return }
    let cost = took.map { max(Self.least, $0.wholeNanoseconds) } ?? 0
    owe(charge.tenant, cost.adding(saturating: -charge.cost))
    if took != nil { estimate = max(Self.least, estimate.multiplied(saturatingBy: 3).adding(saturating: cost) / 4) }
  }

  private mutating func owe(_ tenant: String, _ amount: Int64) {
    let debt = (owed[tenant] ?? 0).adding(saturating: amount)
    owed[tenant] = debt > 0 ? debt : nil
  }

  /// Debts of all shrink by `amount`.
  private mutating func forgive(_ amount: Int64) {
    guard amount > 0 else { return }
    owed = owed.compactMapValues { debt in debt > amount ? debt.adding(saturating: -amount) : nil }
  }
}
