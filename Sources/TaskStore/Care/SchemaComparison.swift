import GRDB

/// Compares a database's tables with those that its migrations make. A store with other ones may read well, and fail with the first write.
enum SchemaComparison {
  /// What is missing, changed or added, a sentence each.
  static func differences(_ database: Database) throws -> [String] {
    let migrator = Schema.migrator
    let applied = try migrator.appliedIdentifiers(database)
    let known = migrator.migrations
    guard let last = known.last(where: applied.contains), known.prefix(while: applied.contains).last == last else {
      return ["its list of migrations is not one that a taskhost writes"]
    }
    let fresh = try DatabaseQueue()
    try migrator.migrate(fresh, upTo: last)
    let (expected, found) = (try fresh.read(parts), try parts(database))
    try fresh.close()
    let missing = expected.keys.filter { found[$0] == nil }.map { "the \($0) is missing" }
    let changed = expected.filter { found[$0.key] != nil && found[$0.key] != $0.value }.map {
      "the \($0.key) is not as a taskhost makes it"
    }
    let added = found.keys.filter { expected[$0] == nil }.map { "the \($0) is not of a taskhost" }
    return (missing + changed + added).sorted()
  }

  /// The definitions of tables, indexes, triggers and views, by what people call them, without white space and quotes: releases of SQLite
  /// quote a renamed table differently.
  private static func parts(_ database: Database) throws -> [String: String] {
    let sql =
      "SELECT type, name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> 'grdb_migrations'"
    return try Dictionary(
      Row.fetchAll(database, sql: sql).map { row in
        let (type, name, definition): (String, String, String) = (row[0], row[1], row[2])
        return ("\(type) \(name)", definition.filter { !$0.isWhitespace && !"\"`'".contains($0) })
      }
    ) { first, _ in first }
  }
}
