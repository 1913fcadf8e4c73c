/// What a reload has changed, or would.
struct ReloadAnswer: Decodable {
  struct Key: Decodable {
    let key: String
    let before, after: String?
    let secret: Bool?
  }

  struct Plugin: Decodable {
    let identifier, file, change: String
    let gained, lost: [String]
  }

  let dryRun: Bool
  let keys: [Key]
  let omittedKeys: Int64
  let plugins: [Plugin]
  let held: [PendingApprovalAnswer]
  let notes: [String]
}
