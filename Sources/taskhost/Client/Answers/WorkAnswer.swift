/// How far a run has come, as the host reports it.
struct ProgressAnswer: Decodable, Hashable {
  let completed: Count
  /// 0 if unknown.
  let total: Count
  let unit: String?
  let message: String?

  /// A plugin may report up to 2^64 - 1, which is also what stands for a value that cannot be read.
  struct Count: Decodable, Hashable {
    let value: UInt64

    init(_ value: UInt64) { self.value = value }

    init(from decoder: any Decoder) throws { value = (try? decoder.singleValueContainer().decode(UInt64.self)) ?? .max }
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
