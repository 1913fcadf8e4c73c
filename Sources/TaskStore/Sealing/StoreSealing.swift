public import ValueSealing

/// Whether and with what the values of a store are sealed.
public struct StoreSealing: Sendable {
  /// The keys: the first one seals, all of them open.
  public var keys: KeyRing
  /// Whether values are sealed; false writes them plain, and opens what was sealed before.
  public var seals: Bool

  /// Seals with the first of the keys, or opens with all of them only.
  public init(keys: KeyRing, seals: Bool = true) { (self.keys, self.seals) = (keys, seals) }

  /// The name of the key that seals; nil if values are written plain.
  public var target: KeyID? { seals ? keys.current.id : nil }
}
