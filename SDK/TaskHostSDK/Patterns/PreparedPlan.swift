import FoundationEssentials

/// The plan that was submitted last, as the identifier's state remembers it.
struct PreparedPlan: Codable {
  let basis: String
  let validUntil: Date?
}
