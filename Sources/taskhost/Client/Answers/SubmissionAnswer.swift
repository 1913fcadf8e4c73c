/// What became of a submission.
struct SubmissionAnswer: Decodable {
  let id: String
  let disposition: String
  let repeated: Bool?
  let notes: [String]
  let nextStartUnixMs: Int64?
  let effective: EffectiveSchedule?

  /// The schedule as the host keeps it; of a request that was there before, all that is told.
  var schedule: EffectiveSchedule {
    effective
      ?? EffectiveSchedule(
        nextStartUnixMs: nextStartUnixMs, latestStartUnixMs: nil, deadlineUnixMs: nil,
        repetition: Repetition(everyMs: nil, cron: nil, timeZone: nil, everyEvent: nil))
  }
}

/// A request's schedule as the host keeps it.
struct EffectiveSchedule: Decodable {
  let nextStartUnixMs: Int64?
  let latestStartUnixMs: Int64?
  let deadlineUnixMs: Int64?
  let repetition: Repetition
}
