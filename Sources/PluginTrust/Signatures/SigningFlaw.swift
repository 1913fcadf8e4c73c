/// What is wrong with a key or signature file: the end of a sentence whose subject is the file.
struct SigningFlaw: Error, Sendable, Equatable {
  let observed: String

  init(_ observed: String) { self.observed = observed }
}
