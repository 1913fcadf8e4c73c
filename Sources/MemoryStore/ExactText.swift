import TaskModel

/// A text that equals only texts with the same bytes. `String` also treats different Unicode spellings as equal.
struct ExactText: Hashable, Comparable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (left: ExactText, right: ExactText) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

  static func < (left: ExactText, right: ExactText) -> Bool { left.text.utf8.lexicographicallyPrecedes(right.text.utf8) }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

/// A unique key of an identifier, or an idempotency key of a plugin or of clients (nil).
struct OwnedKey: Hashable {
  let identifier: TaskIdentifier?
  let key: ExactText

  init(_ key: String, of identifier: TaskIdentifier?) {
    self.identifier = identifier
    self.key = ExactText(key)
  }
}
