import FoundationEssentials

/// The last submitted plan, stored in the identifier's state.
struct PreparedPlan: Codable {
  let basis: String
  let validUntil: Date?
}
