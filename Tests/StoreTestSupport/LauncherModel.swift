public import TaskModel

/// What a launcher does with orders, without running anything: of each identifier it begins them in the order given, as many at once as the
/// contract says.
public struct LauncherModel {
  private var lines: [TaskIdentifier: [RunOrder]] = [:]

  /// A launcher without runs.
  public init() {}

  /// Takes an order.
  ///
  /// - Returns: Whether it begins at once.
  public mutating func start(_ order: RunOrder) -> Bool {
    lines[order.contract.identifier, default: []].append(order)
    return hasBegun(order.run)
  }

  /// A run has ended.
  ///
  /// - Returns: What begins in its place.
  public mutating func end(_ run: RunID) -> RunOrder? {
    guard let identifier = identifier(of: run), let position = lines[identifier]?.firstIndex(where: { $0.run == run }) else { return nil }
    let hadBegun = hasBegun(run)
    let order = lines[identifier]?.remove(at: position)
    guard hadBegun, let slots = order?.contract.maxConcurrentRuns, let line = lines[identifier], line.count >= slots else { return nil }
    return line[slots - 1]
  }

  /// A run has crashed: what waits behind it does not begin.
  ///
  /// - Returns: What is given back.
  public mutating func crash(_ run: RunID) -> [RunOrder] {
    guard let identifier = identifier(of: run), let line = lines[identifier] else { return [] }
    let waiting = line.filter { !hasBegun($0.run) }
    lines[identifier] = line.filter { order in order.run != run && !waiting.contains { $0.run == order.run } }
    return waiting
  }

  /// Takes a run back that has not begun.
  ///
  /// - Returns: False: it has begun.
  public mutating func withdraw(_ run: RunID) -> Bool {
    guard !hasBegun(run) else { return false }
    if let identifier = identifier(of: run) { lines[identifier]?.removeAll { $0.run == run } }
    return true
  }

  /// Whether its handler has been called.
  public func hasBegun(_ run: RunID) -> Bool {
    lines.values.contains { line in line.prefix(line.first?.contract.maxConcurrentRuns ?? 0).contains { $0.run == run } }
  }

  /// The runs that have begun of those that were handed out ahead: what a crash memory has of them.
  public var begunAhead: Set<RunID> { Set(lines.values.joined().filter { $0.isAhead && hasBegun($0.run) }.map(\.run)) }

  private func identifier(of run: RunID) -> TaskIdentifier? { lines.first { $0.value.contains { $0.run == run } }?.key }
}
