public import TaskModel

/// A plugin that passed the checks, and the host's private copy of it, which is what is loaded.
///
/// What becomes of the original afterwards (overwritten, truncated, replaced, removed) changes nothing in the copy.
public struct VerifiedPlugin: Sendable, Equatable {
  /// The original: its path and marks, for messages and for ``remembered``. What it says of itself was read from the copy.
  public let file: PluginFile

  /// SHA-256 of the content, 32 bytes.
  public let digest: [UInt8]

  /// Absolute path of the copy.
  public let copy: String

  /// The file as it may be remembered for the next launch; nil when it changed so shortly before it was copied that a further change
  /// might not show in its times.
  public let remembered: KnownPluginFile?

  /// ``digest`` as 64 lower-case hexadecimal digits.
  public var digestText: String { Hex.text(digest) }
}
