/// How far a run has come, as the host reports it.
package struct ProgressAnswer: Decodable, Hashable {
  package let completed: Count
  /// 0 if unknown.
  package let total: Count
  package let unit: String?
  package let message: String?

  /// A plugin may report up to 2^64 - 1, which is also what stands for a value that cannot be read.
  package struct Count: Decodable, Hashable {
    package let value: UInt64

    package init(_ value: UInt64) { self.value = value }

    package init(from decoder: any Decoder) throws { value = (try? decoder.singleValueContainer().decode(UInt64.self)) ?? .max }
  }
}

/// What a run has done, as the host reports it.
package struct WorkAnswer: Decodable, Hashable {
  package let itemsAttempted: ProgressAnswer.Count
  package let itemsCompleted: ProgressAnswer.Count
  package let itemsFailed: ProgressAnswer.Count
  package let bytesIn: ProgressAnswer.Count
  package let bytesOut: ProgressAnswer.Count
}
