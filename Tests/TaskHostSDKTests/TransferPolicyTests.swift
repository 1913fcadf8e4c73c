import Foundation
import TaskHostSDK
import Testing

@Suite("The policy of transfers")
struct TransferPolicyTests {
  private static let all: Conditions = [.network, .unmetered, .power, .idle, .batteryNotLow, .storageNotLow]
  private static let mebibyte: Int64 = 1 << 20

  @Test(
    "what speaks against a transfer depends on its size",
    arguments: [
      ([], 0, nil), ([], 1 << 40, nil), (.network, 0, .noNetwork), (.unmetered, 10, nil), (.unmetered, 11, .metered),
      (.power, 100, nil), (.power, 101, .onBattery), ([.power, .batteryNotLow], 1, nil), ([.power, .batteryNotLow], 2, .lowBattery),
      ([.unmetered, .power], 11, .metered),
    ] as [(Conditions, Int64, TransferObstacle?)])
  func size(_ lost: Conditions, _ mebibytes: Int64, _ expected: TransferObstacle?) {
    let (bytes, overflows) = mebibytes.multipliedReportingOverflow(by: Self.mebibyte)
    let obstacle = TransferPolicy().obstacle(bytes: overflows ? .max : bytes, in: Self.all.subtracting(lost))
    #expect(obstacle == expected)
  }

  @Test("a download leaves space for others; a question needs none")
  func space() {
    let policy = TransferPolicy()
    func obstacle(_ bytes: Int64, _ free: Int64?, _ held: Conditions = Self.all) -> TransferObstacle? {
      policy.obstacle(bytes: bytes, in: held, free: free)
    }
    #expect(obstacle(.max, nil) == nil)
    #expect(obstacle(1, 1 + policy.spareBytes) == nil)
    #expect(obstacle(2, 1 + policy.spareBytes) == .noSpace)
    #expect(obstacle(.max, 0) == .noSpace)
    #expect(obstacle(0, 0) == nil)
    #expect(obstacle(1, .max, Self.all.subtracting(.storageNotLow)) == .noSpace)
    #expect(obstacle(.min, 0) == nil)
  }

  @Test("an operator may set any part of it")
  func settings() throws {
    func read(_ json: String) throws -> TransferPolicy { try JSONDecoder().decode(TransferPolicy.self, from: Data(json.utf8)) }
    #expect(try read("{}") == TransferPolicy())
    var expected = TransferPolicy()
    (expected.meteredBytes, expected.spareBytes) = (5_000_000, 0)
    #expect(try read(#"{"metered_bytes": 5000000, "spare_bytes": 0}"#) == expected)
    expected = TransferPolicy()
    (expected.batteryBytes, expected.lowBatteryBytes) = (7, 6)
    #expect(try read(#"{"battery_bytes": 7, "low_battery_bytes": 6}"#) == expected)
    #expect(throws: DecodingError.self) { try read(#"{"metered_bytes": "much"}"#) }
  }
}
