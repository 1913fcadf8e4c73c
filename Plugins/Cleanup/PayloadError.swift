/// Why a request's payload is refused.
struct PayloadError: Error, CustomStringConvertible, Equatable {
  let reason: String

  var description: String { "the payload \(reason)" }
}
