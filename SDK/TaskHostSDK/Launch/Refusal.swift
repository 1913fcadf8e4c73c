/// Why a launch is refused: a sentence for the host's log.
struct Refusal: Error {
  let reason: String
}
