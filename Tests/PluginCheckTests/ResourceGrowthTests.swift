import Testing

@testable import PluginCheck

@Suite("What grows from one row of runs to the next") struct ResourceGrowthTests {
  /// After rows of so many runs, with so many bytes that malloc has given out after each.
  private func growth(_ rows: [(runs: Int, memory: Int)]) -> ResourceGrowth {
    func use(_ memory: Int) -> ProcessUse { ProcessUse(descriptors: 5, threads: 3, children: 0, memory: memory, mapped: 0, space: 1 << 30) }
    var growth = ResourceGrowth(use(100_000))
    for row in rows { growth.add(use(row.memory), runs: row.runs) }
    return growth
  }

  @Test("a hundred bytes a run are kept, in rows of 300 runs and in longer ones", arguments: [300, 500, 1000])
  func hundredBytes(_ runs: Int) {
    let growth = growth((1...3).map { (runs, 100_000 + $0 * runs * 112) })
    #expect(growth.kept == ["each run keeps about 112 bytes of memory"])
  }

  @Test("in short rows they may be chance: more rows are asked for") func shortRows() {
    let growth = growth((1...2).map { (150, 100_000 + $0 * 150 * 112) })
    #expect(growth.kept.isEmpty)
    #expect(growth.isSuspicious)
  }

  @Test(
    "what comes once, or comes and goes, is not kept",
    arguments: [[200_000, 200_000], [200_000, 150_000, 200_000], [125_000, 150_000]])
  func chance(_ memory: [Int]) {
    let growth = growth(memory.map { (500, $0) })
    #expect(growth.kept.isEmpty)
  }

  @Test("a second row that is cut short is compared with the first all the same") func secondCutShort() {
    let growth = growth([(150, 200_000), (50, 300_000)])
    #expect(growth.kept == ["each run keeps about 666 bytes of memory"])
    #expect(growth.judgesMemory)
  }

  @Test("a row that was cut short does not hide what the rows before it kept") func cutShort() {
    let growth = growth([(500, 156_000), (500, 212_000), (40, 212_100)])
    #expect(growth.runCount == 1040)
    #expect(growth.kept == ["each run keeps about 103 bytes of memory"])
  }
}
