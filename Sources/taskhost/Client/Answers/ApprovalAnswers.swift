/// What a plugin waits for.
struct PendingApprovalAnswer: Decodable {
  let identifier, file: String
  let gained, lost, asks: [String]
  let running: Bool
  let fingerprint: String
}

/// Whose approval was revoked, and what became of it.
struct RevocationReportAnswer: Decodable {
  let identifier: String
  let lost: [String]
  let inForce: Bool
  let problems: [String]
}

/// What was approved, and what became of it.
struct ApprovalReportAnswer: Decodable {
  let identifier: String
  let inForce: Bool
  let problems: [String]
}
