/// A line a plugin logged.
struct FakeLogLine: Equatable, Sendable {
  let level: Int
  let text: String
}
