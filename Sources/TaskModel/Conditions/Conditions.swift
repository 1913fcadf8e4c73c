/// The machine conditions that a request needs to run.
public struct Conditions: OptionSet, Sendable, Hashable {
  /// A bit for each condition, as in `taskhost.h`.
  public let rawValue: UInt32
  /// The conditions whose bits are set.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// A connected network.
  public static let network = Conditions(rawValue: 1)
  /// A network that is not metered.
  public static let unmetered = Conditions(rawValue: 2)
  /// External power.
  public static let power = Conditions(rawValue: 4)
  /// An idle machine.
  public static let idle = Conditions(rawValue: 8)
  /// A battery that is not low.
  public static let batteryNotLow = Conditions(rawValue: 16)
  /// Storage that is not low.
  public static let storageNotLow = Conditions(rawValue: 32)

  /// Every condition with its name in the CLI, the configuration and JSON.
  public static let named: [(name: String, condition: Conditions)] = [
    ("network", .network), ("unmetered", .unmetered), ("power", .power), ("idle", .idle), ("battery_not_low", .batteryNotLow),
    ("storage_not_low", .storageNotLow),
  ]

  /// All conditions.
  public static let all = Conditions(named.map(\.condition))

  /// The names of the conditions in this set.
  public var names: [String] { Self.named.filter { contains($0.condition) }.map(\.name) }

  /// The condition with that name; nil if the name is unknown.
  public init?(name: String) {
    guard let found = Self.named.first(where: { $0.name == name }) else { return nil }
    self = found.condition
  }
}
