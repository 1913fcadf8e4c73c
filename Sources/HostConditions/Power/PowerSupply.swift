/// A power supply as the kernel describes it.
struct PowerSupply: Sendable, Hashable {
  /// The name of its directory: "BAT0".
  var name: String
  /// What it is.
  var kind: Kind
  /// Whether it supplies power; nil if unknown.
  var isOnline: Bool?
  /// Charge in percent; nil if unknown.
  var capacity: Double?
  /// The charge in words, if there is no number: "Low".
  var capacityLevel: String?
  /// "Charging", "Discharging", "Full", "Not charging", "Unknown".
  var status: String?
  /// Its capacity when full, in any unit; nil if unknown.
  var fullCharge: Double?

  /// What a supply is.
  enum Kind: Sendable, Hashable {
    /// Power from outside.
    case external
    /// What the machine runs on without it.
    case battery
  }
}
