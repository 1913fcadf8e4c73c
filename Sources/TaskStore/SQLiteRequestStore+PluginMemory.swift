import GRDB
public import TaskModel

extension SQLiteRequestStore: PluginMemory {
  /// Uses a reading connection.
  public func knownFiles() throws(StoreError) -> [KnownPluginFile] {
    try read { try Self.files($0) }
  }

  /// Uses a reading connection.
  public func verdicts() throws(StoreError) -> [PluginVerdict] {
    try read { try Self.verdicts($0) }
  }

  /// Uses the writing connection and waits for a commit in progress. Any thread may call it. Skips unchanged data.
  public func remember(files: [KnownPluginFile], verdicts: [PluginVerdict]) throws(StoreError) {
    do {
      try pool.writeWithoutTransaction { database in
        guard try Set(files) != Set(Self.files(database)) || Set(verdicts) != Set(Self.verdicts(database)) else { return }
        try database.inTransaction(.immediate) {
          try database.execute(sql: "DELETE FROM plugin_files; DELETE FROM plugin_verdicts")
          let addFile = try PreparedStatement(
            database,
            "INSERT OR REPLACE INTO plugin_files (path, device, inode, size, modified_ns, changed_ns, digest) VALUES (?, ?, ?, ?, ?, ?, ?)")
          for file in files {
            try addFile.run(
              .text(file.path), .integer(Int64(bitPattern: file.device)), .integer(Int64(bitPattern: file.inode)),
              .integer(Int64(bitPattern: file.size)), .integer(file.modified), .integer(file.changed), .blob(file.digest))
          }
          let addVerdict = try PreparedStatement(
            database, "INSERT OR REPLACE INTO plugin_verdicts (digest, circumstances, registrations) VALUES (?, ?, ?)")
          for verdict in verdicts {
            try addVerdict.run(.blob(verdict.digest), .blob(verdict.circumstances), .blob(verdict.registrations))
          }
          return .commit
        }
      }
    } catch {
      throw StoreError(error)
    }
  }

  private static func files(_ database: Database) throws -> [KnownPluginFile] {
    let sql = "SELECT path, device, inode, size, modified_ns, changed_ns, digest FROM plugin_files ORDER BY path"
    return try PreparedStatement(database, sql).rows { row in
      KnownPluginFile(
        path: row.text(0), device: UInt64(bitPattern: row.integer(1)), inode: UInt64(bitPattern: row.integer(2)),
        size: UInt64(bitPattern: row.integer(3)), modified: row.integer(4), changed: row.integer(5), digest: row.blob(6))
    }
  }

  private static func verdicts(_ database: Database) throws -> [PluginVerdict] {
    let sql = "SELECT digest, circumstances, registrations FROM plugin_verdicts ORDER BY digest, circumstances"
    return try PreparedStatement(database, sql).rows { row in
      PluginVerdict(digest: row.blob(0), circumstances: row.blob(1), registrations: row.blob(2))
    }
  }
}
