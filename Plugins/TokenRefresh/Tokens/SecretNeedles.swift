/// Everything a redactor looks for, by the first byte, so that a search costs little however many secrets there are.
struct SecretNeedles: Sendable {
  /// With fewer bytes, what is left of a secret without its separators would match ordinary words by chance.
  private static let shortestCompact = 8

  /// Forms of secrets, as ``DecodedView/places(of:)`` wants them.
  private(set) var whole: [UInt8: Set<[UInt8]>] = [:]
  /// The same for a ``DecodedView/compacted()`` view.
  private(set) var compact: [UInt8: Set<[UInt8]>] = [:]

  var isEmpty: Bool { whole.isEmpty }

  mutating func insert(_ forms: Set<[UInt8]>) {
    for form in forms {
      if let first = form.first { whole[first, default: []].insert(form) }
      let packed = form.filter { !DecodedView.isSeparator($0) }
      if packed.count >= Self.shortestCompact, let first = packed.first { compact[first, default: []].insert(packed) }
    }
  }
}
