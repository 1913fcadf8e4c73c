/// What the first lines of `taskhost top` say about the host.
struct TopHeader: Decodable, Sendable {
  struct Requests: Decodable, Sendable {
    let blocked: Int64
    let pending: Int64
    let running: Int64
    let failed: Int64
  }

  let version: String
  let phase: String
  let startedUnixMs: Int64
  let requests: Requests
  let running: Int64
  let maxConcurrentRuns: Int64
}
