/// A promise that was not kept, in a sentence.
struct ProofFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Throws the sentence when `holds` is false. Cheaper than `#expect`, of which there would be many millions.
@inline(__always) func promise(_ holds: Bool, _ sentence: @autoclosure () -> String) throws {
  guard holds else { throw ProofFailure(sentence()) }
}
