/// Compares the resources of the process after each of several series of runs, to find those that grow.
struct ResourceGrowth {
  private var uses: [ProcessUse]
  private var runs: [Int] = []
  /// Memory counts as kept from this many bytes per run.
  private static let leastKept = 64
  /// The least runs of a series by which memory is judged.
  private static let leastForMemory = 20

  /// - Parameter use: The resources before the first series.
  init(_ use: ProcessUse) { uses = [use] }

  /// Adds a series of `count` runs. Merges a short series with the previous one, because it proves little by itself, unless that was the first
  /// one: there must be two to compare.
  mutating func add(_ use: ProcessUse, runs count: Int) {
    if runs.count >= 2, let last = runs.last, count < last / 2 {
      uses[uses.count - 1] = use
      runs[runs.count - 1] = last + count
    } else {
      uses.append(use)
      runs.append(max(1, count))
    }
  }

  var runCount: Int { runs.reduce(0, +) }

  /// Whether the last two series are long enough to tell what each run keeps of memory.
  var judgesMemory: Bool { runs.count >= 2 && runs.suffix(2).allSatisfy { $0 >= Self.leastForMemory } }

  /// The growth of memory since the beginning, in bytes.
  var bytes: Int {
    guard let first = uses.first, let last = uses.last else { return 0 }
    return max(last.memory - first.memory, 0) + max(last.mapped - first.mapped, 0)
  }

  /// Sentences about what has grown in both of the last two series; growth in only one is not a leak.
  var kept: [String] { grown(chance: 32 << 10) }

  /// Whether more series are needed, because something has grown, even a little.
  var isSuspicious: Bool { runCount < 600 || keptCounts.isEmpty ? !grown(chance: 0).isEmpty : false }

  /// - Parameter chance: The growth of malloc's memory, in bytes per series, that is attributed to chance.
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

  /// Memory that runs keep shows in all of these measures; only the first is reported.
  private func keptBytes(_ chance: Int) -> [String] {
    guard judgesMemory, let count = runs.suffix(2).min() else { return [] }
    let limits: [(String, (ProcessUse) -> Int, Int)] = [
      ("of memory", \.memory, max(Self.leastKept, chance / count)), ("of memory outside malloc", \.mapped, 4096),
      ("of address space, like threads that are neither joined nor detached", \.space, 1 << 20),
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
