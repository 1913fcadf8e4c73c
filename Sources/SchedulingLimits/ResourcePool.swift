/// Counted tokens by name (`gpu`, a licence), which runs hold until they end.
public struct ResourcePool: Sendable, Hashable {
  /// The number of tokens of each name.
  public private(set) var capacity: [String: Int]
  /// The number of taken tokens of each name; more than the capacity if that was lowered, or if tokens were overdrawn.
  private var taken: [String: Int] = [:]

  /// Creates a pool with all tokens free; a negative capacity counts as 0.
  public init(_ capacity: [String: Int]) { self.capacity = capacity.mapValues { max(0, $0) } }

  /// The number of free tokens, never negative; 0 for an unknown name.
  public func free(_ name: String) -> Int { max(0, (capacity[name] ?? 0) - (taken[name] ?? 0)) }

  /// Whether all of `wanted` is free.
  public func canTake(_ wanted: [String: Int]) -> Bool { missing(for: wanted).isEmpty }

  /// The shortages that prevent taking `wanted`, ordered by name.
  public func missing(for wanted: [String: Int]) -> [ResourceShortage] {
    wanted.sorted { $0.key < $1.key }.compactMap { name, number in
      guard number > 0 else { return nil }
      guard let total = capacity[name] else { return ResourceShortage(name: name, wanted: number, free: 0, capacity: nil) }
      let free = free(name)
      return number <= free ? nil : ResourceShortage(name: name, wanted: number, free: free, capacity: total)
    }
  }

  /// Takes all of `wanted`, or nothing.
  ///
  /// - Returns: Whether it was taken. Numbers that are not positive are ignored.
  public mutating func take(_ wanted: [String: Int]) -> Bool {
    guard canTake(wanted) else { return false }
    for (name, number) in wanted where number > 0 { taken[name, default: 0] += number }
    return true
  }

  /// Takes all of `wanted` even if less is free: for a run that an operator launches regardless of limits.
  public mutating func overdraw(_ wanted: [String: Int]) {
    for (name, number) in wanted where number > 0 { taken[name, default: 0] += number }
  }

  /// Returns tokens; ignores more than were taken.
  public mutating func give(_ tokens: [String: Int]) {
    for (name, number) in tokens where number > 0 {
      let left = max(0, (taken[name] ?? 0) - number)
      taken[name] = left == 0 ? nil : left
    }
  }

  /// Changes the capacities. Taken tokens stay taken, even of a removed name.
  public mutating func resize(_ capacity: [String: Int]) { self.capacity = capacity.mapValues { max(0, $0) } }
}
