/// Counted tokens by name (`gpu`, a licence), of which runs take some for as long as they go on.
public struct ResourcePool: Sendable, Hashable {
  /// How many there are of each.
  public private(set) var capacity: [String: Int]
  /// How many are taken of each; more than there are, if the capacity was lowered while they were, or if they were overdrawn.
  private var taken: [String: Int] = [:]

  /// All of them free; a negative capacity is none.
  public init(_ capacity: [String: Int]) { self.capacity = capacity.mapValues { max(0, $0) } }

  /// How many are free: never negative; 0 for a name that is unknown.
  public func free(_ name: String) -> Int { max(0, (capacity[name] ?? 0) - (taken[name] ?? 0)) }

  /// Whether all of `wanted` is free at once.
  public func canTake(_ wanted: [String: Int]) -> Bool { missing(for: wanted).isEmpty }

  /// What keeps `wanted` from being taken, by name in order; empty: nothing.
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
  /// - Returns: Whether it was taken. Numbers that are not positive want nothing.
  public mutating func take(_ wanted: [String: Int]) -> Bool {
    guard canTake(wanted) else { return false }
    for (name, number) in wanted where number > 0 { taken[name, default: 0] += number }
    return true
  }

  /// Takes all of `wanted` even where there is less: for a run that an operator launches past the limits.
  public mutating func overdraw(_ wanted: [String: Int]) {
    for (name, number) in wanted where number > 0 { taken[name, default: 0] += number }
  }

  /// Gives back what was taken; more than was taken is not believed.
  public mutating func give(_ tokens: [String: Int]) {
    for (name, number) in tokens where number > 0 {
      let left = max(0, (taken[name] ?? 0) - number)
      taken[name] = left == 0 ? nil : left
    }
  }

  /// Other capacities from now on; what is taken stays taken, whatever becomes of the name.
  public mutating func resize(_ capacity: [String: Int]) { self.capacity = capacity.mapValues { max(0, $0) } }
}
