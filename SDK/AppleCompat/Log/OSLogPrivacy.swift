/// Whether a value may be read in the log, as in Apple's module `os`.
///
/// A value that is not public is replaced as the line is written: nobody can read it later, no debugger shows it.
public struct OSLogPrivacy: Equatable, Sendable {
  /// What stands in for a value that is not public.
  public enum Mask: Sendable {
    /// `<private>`.
    case none
    /// A hash: within one process, equal values have equal hashes.
    case hash
  }

  enum Choice {
    case automatic
    case isPublic
    case isPrivate
  }

  let choice: Choice
  let mask: Mask

  /// Public for numbers and Booleans, private for everything else.
  public static var auto: OSLogPrivacy { OSLogPrivacy(choice: .automatic, mask: .none) }
  /// The value is written.
  public static var `public`: OSLogPrivacy { OSLogPrivacy(choice: .isPublic, mask: .none) }
  /// The value is not written.
  public static var `private`: OSLogPrivacy { OSLogPrivacy(choice: .isPrivate, mask: .none) }
  /// As ``private``.
  public static var sensitive: OSLogPrivacy { .private }

  /// As ``auto``, with what stands in for a value that is not public.
  public static func auto(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(choice: .automatic, mask: mask) }
  /// As ``private``, with what stands in for the value.
  public static func `private`(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(choice: .isPrivate, mask: mask) }
  /// As ``private(mask:)``.
  public static func sensitive(mask: Mask) -> OSLogPrivacy { .private(mask: mask) }

  /// The value, or what stands in for it.
  func redact(_ text: @autoclosure () -> String, isScalar: Bool) -> String {
    switch choice {
    case .isPublic: return text()
    case .automatic where isScalar: return text()
    case .automatic, .isPrivate: break
    }
    switch mask {
    case .none: return "<private>"
    case .hash:
      // Seeded anew in each process, so that nobody finds a value by hashing guesses.
      var hasher = Hasher()
      hasher.combine(text())
      return "<mask.hash: '\(String(UInt(bitPattern: hasher.finalize()), radix: 16))'>"
    }
  }
}
