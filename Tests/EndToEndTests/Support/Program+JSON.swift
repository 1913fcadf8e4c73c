import TestSupport

extension Program.Result {
  /// What it wrote, as JSON.
  func json() throws -> JSON { try JSON(parsing: output) }
}
