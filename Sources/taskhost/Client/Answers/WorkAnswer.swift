/// How far a run has come, as the host reports it.
struct ProgressAnswer: Decodable, Hashable {
  let completed: Count
  /// 0 if unknown.
  let total: Count
  let unit: String?
  let message: String?

  /// A plugin may report up to 2^64 - 1. Values beyond Int64 become its maximum.
  struct Count: Decodable, Hashable {
    let value: Int64

    init(_ value: Int64) { self.value = value }

    init(from decoder: any Decoder) throws { value = (try? decoder.singleValueContainer().decode(Int64.self)) ?? .max }
  }
}

/// What a run has done, as the host reports it.
struct WorkAnswer: Decodable, Hashable {
  let itemsAttempted: ProgressAnswer.Count
  let itemsCompleted: ProgressAnswer.Count
  let itemsFailed: ProgressAnswer.Count
  let bytesIn: ProgressAnswer.Count
  let bytesOut: ProgressAnswer.Count
}
