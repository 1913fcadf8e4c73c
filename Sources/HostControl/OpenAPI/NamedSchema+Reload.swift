import RecordJSON

/// What `ReloadReport.swift` of RecordJSON writes.
extension NamedSchema {
  static let reloadReportSchema = JSONSchema.object(
    .must("dry_run", .boolean), .must("keys", .array(reloadedKey)), .must("omitted_keys", .count), .must("plugins", .array(reloadedPlugin)),
    .must("held", .array(.named(.pendingApproval))), .must("notes", .texts))

  static let pendingApprovalMembers: [MemberSchema] = {
    let members: [[MemberSchema]] = [
      .must("identifier", .identifier), .must("file", .string),
      .must("gained", .described(.texts, "What it may do and was not approved, a sentence each.")),
      .must("lost", .described(.texts, "What was approved and is not asked for any more.")),
      .must("asks", .described(.texts, "What its author says that it needs, as the configuration would have it.")),
      .must("running", .described(.boolean, "Whether it goes on with what it had; otherwise it is not loaded.")),
      .must("fingerprint", .described(.string, "Of what would be approved: send it to approve that.")),
    ]
    return members.flatMap(\.self)
  }()

  static let approvalReportSchema = JSONSchema.object(
    pendingApprovalMembers, .must("in_force", .boolean),
    .must("problems", .described(.texts, "Why it is not in force, although that was asked for.")))

  static let revocationReportSchema = JSONSchema.object(
    .must("identifier", .identifier), .must("lost", .described(.texts, "What it may not do any more.")), .must("in_force", .boolean),
    .must("problems", .described(.texts, "Why it is not in force.")))

  private static let reloadedKey = JSONSchema.object(
    .must("key", .string), .may("before", .described(.string, "As JSON; absent if it was not set, or is a secret.")),
    .may("after", .described(.string, "As JSON; absent if it is not set, or is a secret.")), .may("secret", .boolean))

  private static let reloadedPlugin = JSONSchema.object(
    .must("identifier", .identifier), .must("file", .string), .must("change", .names(of: ReloadReport.Plugin.Fate.self)),
    .must("gained", .described(.texts, "What it may do now and could not before.")),
    .must("lost", .described(.texts, "What it could do before and may not now.")))
}
