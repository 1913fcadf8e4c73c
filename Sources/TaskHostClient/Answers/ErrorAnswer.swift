/// The reason for the host's refusal.
package struct ErrorAnswer: Decodable {
  package struct Reason: Decodable {
    /// A word for programs; nil if the answer is not a host's.
    package let code: String?
    package let message: String
    /// The member of the body, or the parameter, that it is about.
    package let field: String?
  }

  package let error: Reason
}
