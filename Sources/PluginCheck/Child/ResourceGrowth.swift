/// What the process holds after each of several rows of runs, and what of it grows from one to the next.
struct ResourceGrowth {
  private var uses: [ProcessUse]
  private var runs: [Int] = []
  /// From how many bytes a run on memory is kept.
  private static let leastKept = 64

  /// - Parameter use: Before the first row.
  init(_ use: ProcessUse) { uses = [use] }

  /// A row of `count` runs is over. One that was cut short says little by itself: it goes on with the row before it.
  mutating func add(_ use: ProcessUse, runs count: Int) {
    if let last = runs.last, count < last / 2 {
      uses[uses.count - 1] = use
      runs[runs.count - 1] = last + count
    } else {
      uses.append(use)
      runs.append(max(1, count))
    }
  }

  /// All runs of the rows.
  var runCount: Int { runs.reduce(0, +) }

  /// Bytes that came to be held since the beginning.
  var bytes: Int {
    guard let first = uses.first, let last = uses.last else { return 0 }
    return max(last.memory - first.memory, 0) + max(last.mapped - first.mapped, 0)
  }

  /// What has grown, in words, in each of the last two rows: what was kept once is no leak.
  var kept: [String] { grown(chance: 32 << 10) }

  /// Whether more rows are needed to tell: something has grown, be it only a little.
  var isSuspicious: Bool { runCount < 600 || keptCounts.isEmpty ? !grown(chance: 0).isEmpty : false }

  /// - Parameter chance: As many bytes of malloc's may be more after a row than before it without any run's having kept them.
  private func grown(chance: Int) -> [String] {
    guard runs.count >= 2 else { return [] }
    return keptCounts + keptBytes(chance)
  }

  private var keptCounts: [String] {
    counted("descriptors", \.descriptors) + counted("threads", \.threads) + counted("child processes", \.children)
  }

  private func counted(_ name: String, _ value: (ProcessUse) -> Int) -> [String] {
    let (first, second, third) = (value(uses[uses.count - 3]), value(uses[uses.count - 2]), value(uses[uses.count - 1]))
    let total = third - value(uses[0])
    guard second > first, third > second, third - first >= 3 else { return [] }
    return ["after \(runCount) runs the process has \(total) \(name) more than before them"]
  }

  /// A run that keeps memory in one way keeps it in the others too: the first is named.
  private func keptBytes(_ chance: Int) -> [String] {
    let count = runs.suffix(2).min() ?? 0
    guard count >= 20 else { return [] }
    let limits: [(String, (ProcessUse) -> Int, Int)] = [
      ("of memory", \.memory, max(Self.leastKept, chance / count)), ("of memory that malloc does not know of", \.mapped, 4096),
      ("of address space, as threads that are neither joined nor detached do,", \.space, 1 << 20),
    ]
    for (name, value, limit) in limits {
      let growth = zip(zip(uses.suffix(3), uses.suffix(2)), runs.suffix(2)).map { (value($0.1) - value($0.0)) / $1 }
      if let least = growth.min(), least >= limit {
        return ["each run keeps about \(least) bytes \(name)"]
      }
    }
    return []
  }
}
