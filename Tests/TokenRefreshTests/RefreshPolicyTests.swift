import Foundation
import Testing

@testable import TokenRefresh

@Suite("Margin") struct RefreshPolicyTests {
  /// Seconds from now until a token is due; nil when there is no telling and it is due at once.
  private func due(_ members: String, _ margin: RefreshMargin) throws -> Double? {
    let file = try TokenFile(json: Array("{\(members)}".utf8))
    let date = RefreshPolicy.dueDate(file, margin: margin, now: Date(timeIntervalSince1970: 10_000))
    return date == .distantPast ? nil : date.timeIntervalSince1970 - 10_000
  }

  private let token = #""access_token": "a", "refresh_token": "r""#

  @Test("a share counts of the whole lifetime")
  func share() throws {
    #expect(try due(token + #", "issued_at": 9000, "expires_at": 12000"#, .percent(20)) == 1400)
  }

  @Test("without the time of issue, a share is 5 minutes")
  func unknownIssue() throws {
    #expect(try due(token + #", "expires_at": 12000"#, .percent(20)) == 1700)
  }

  @Test("a fixed margin leaves a token just issued a tenth of its life")
  func fixed() throws {
    #expect(try due(token + #", "issued_at": 9000, "expires_at": 12000"#, .duration(.seconds(60))) == 1940)
    #expect(try due(token + #", "issued_at": 10000, "expires_at": 10100"#, .duration(.seconds(300))) == 10)
  }

  @Test("a token that does not say when it ends is taken to last an hour")
  func unknownEnd() throws {
    #expect(try due(token + #", "issued_at": 9000"#, .percent(50)) == 800)
  }

  @Test(
    "where nothing tells, the token is due",
    arguments: [
      #""access_token": "a""#, #""refresh_token": "r", "expires_at": 99999"#,
      #""access_token": "a", "issued_at": 20000, "expires_at": 30000"#,
    ])
  func dueAtOnce(_ members: String) throws {
    #expect(try due(members, .percent(20)) == nil)
  }
}
