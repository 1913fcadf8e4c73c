import RecordJSON

/// What `ReloadReport.swift` of RecordJSON writes.
extension NamedSchema {
  static let reloadReportSchema = JSONSchema.object(
    .must("dry_run", .boolean), .must("keys", .array(reloadedKey)), .must("omitted_keys", .count), .must("plugins", .array(reloadedPlugin)),
    .must("notes", .texts))

  private static let reloadedKey = JSONSchema.object(
    .must("key", .string), .may("before", .described(.string, "As JSON; absent if it was not set, or is a secret.")),
    .may("after", .described(.string, "As JSON; absent if it is not set, or is a secret.")), .may("secret", .boolean))

  private static let reloadedPlugin = JSONSchema.object(
    .must("identifier", .identifier), .must("file", .string), .must("change", .names(of: ReloadReport.Plugin.Fate.self)),
    .must("gained", .described(.texts, "What it may do now and could not before.")),
    .must("lost", .described(.texts, "What it could do before and may not now.")))
}
