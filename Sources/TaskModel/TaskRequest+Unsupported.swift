extension TaskRequest {
  /// What it asks for that this version does not offer: the field, and a sentence; nil: nothing.
  public var unsupported: (field: String, sentence: String)? {
    if !conditions.isEmpty {
      return ("conditions", "conditions (\(conditions.names.joined(separator: ", "))) are not offered by this version")
    }
    if onConflict == .update || onConflict == .append {
      return ("on_conflict", "on_conflict \(onConflict.rawValue) is not offered by this version: use keep or replace")
    }
    return nil
  }
}
