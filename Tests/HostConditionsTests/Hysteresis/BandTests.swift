import Testing

@testable import HostConditions

@Suite("Band") struct BandTests {
  @Test(
    "more is better: lost below the lower threshold, held from the upper",
    arguments: [(14.9, Leaning.lost), (15, .neither), (19.9, .neither), (20, .holds), (.infinity, .holds), (.nan, .unknown)])
  func charge(_ value: Double, _ leaning: Leaning) { #expect(Band(lost: 15, holds: 20, moreIsBetter: true).leaning(value) == leaning) }

  @Test(
    "less is better: lost above the upper threshold, held up to the lower",
    arguments: [(0, Leaning.holds), (0.3, .holds), (0.31, .neither), (0.7, .neither), (0.71, .lost), (.nan, .unknown)])
  func load(_ value: Double, _ leaning: Leaning) { #expect(Band(lost: 0.7, holds: 0.3, moreIsBetter: false).leaning(value) == leaning) }

  @Test(
    "together: one lost loses, all must hold to hold, and what is unknown has no say",
    arguments: [
      ([Leaning.holds, .holds], Leaning.holds), ([.holds, .lost], .lost), ([.holds, .neither], .neither), ([.lost, .neither], .lost),
      ([.unknown, .holds], .holds), ([.unknown, .lost], .lost), ([.unknown, .unknown], .unknown), ([], .unknown),
    ])
  func together(_ leanings: [Leaning], _ leaning: Leaning) { #expect(Leaning.together(leanings) == leaning) }
}
