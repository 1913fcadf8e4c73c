/// A part of the answer to a ``PluginQuestion``: JSON objects, each as the control API writes it.
public struct AnswerPage: Sendable, Hashable {
  /// The objects, in UTF-8; at most ``countLimit``, each at most ``textLimit`` bytes.
  public var texts: [[UInt8]]
  /// The id after which the next page begins; nil on the last page.
  public var next: String?

  /// Creates a page.
  public init(texts: [[UInt8]] = [], next: String? = nil) {
    self.texts = texts
    self.next = next
  }

  /// The maximum number of objects in a page.
  public static let countLimit = 100
  /// The bytes of objects at which a page is full. The last object may exceed this. Few, because other plugins' questions are answered
  /// between two pages, not within one.
  public static let fullBytes = 64 << 10
  /// How many records are read at once for a page: more than the page takes are read in vain.
  public static let readCount = 10
  /// The maximum bytes of one object.
  public static let textLimit = 1 << 20
}
