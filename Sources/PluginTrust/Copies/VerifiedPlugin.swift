import StrictText
public import TaskModel

/// A plugin that passed the checks, and the host's private copy of it, which the host loads.
///
/// Later changes of the original (overwritten, truncated, replaced, removed) do not affect the copy.
public struct VerifiedPlugin: Sendable, Equatable {
  /// The original: its path and marks, for messages and for ``remembered``. Its ELF data was read from the copy.
  public let file: PluginFile

  /// SHA-256 of the content, 32 bytes.
  public let digest: [UInt8]

  /// Absolute path of the copy.
  public let copy: String

  /// The file to remember for the next launch; nil if it changed so shortly before it was copied that a further change might not show in
  /// its times.
  public let remembered: KnownPluginFile?

  /// ``digest`` as 64 lower-case hexadecimal digits.
  public var digestText: String { Hex.text(digest) }
}
