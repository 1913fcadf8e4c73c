import Foundation
import Testing

@testable import TaskHost

/// The one table of keys, seen from the reference: `taskhost config reference`.
@Suite("Reference of the configuration") struct ConfigurationReferenceTests {
  private static let keys = HostConfiguration.reference.filter { !$0.isTable }

  @Test("has every key that the reader knows, once, with a type and sentences")
  func complete() {
    #expect(Self.keys.map(\.key) == HostConfiguration.keys)
    for key in HostConfiguration.reference {
      #expect(!key.type.isEmpty, "\(key.key)")
      #expect(key.about.first?.isUppercase == true || key.about.hasPrefix("\""), "\(key.key): \(key.about)")
      #expect(key.about.hasSuffix("."), "\(key.key): \(key.about)")
    }
  }

  @Test("has each table before its keys")
  func tables() throws {
    let names = HostConfiguration.reference.map(\.key)
    for table in ["control", "retry", "notify", "plugin", "plugin.*.limits", "command.*.retry", "schedule", "windows", "events", "traces"] {
      let place = try #require(names.firstIndex(of: table), "\(table)")
      #expect(names[place + 1].hasPrefix(table + "."), "\(table): \(names[place + 1])")
    }
  }

  @Test("says defaults as the file has them, relative to the file")
  func defaults() {
    let defaults = Dictionary(uniqueKeysWithValues: Self.keys.map { ($0.key, $0.standard) })
    #expect(defaults["plugin_directories"] == "[\"plugins\"]")
    #expect(defaults["control.socket"] == "\"state/control.sock\"")
    #expect(defaults["control.mode"] == "\"0600\"")
    #expect(defaults["minimum_interval"] == "\"15m\"")
    #expect(defaults["require_sandbox"] == "false")
    #expect(defaults["conditions.idle_load"] == "0.3")
    #expect(defaults["conditions.storage_low_bytes"] == "\"512MiB\"")
    #expect(defaults["plugin.*.limits.memory"] == "\"256MiB\"")
    #expect(defaults["plugin.*.isolation"] == "\"process\"")
    #expect(defaults["plugin.*.budget"] == .some(nil))
    #expect(defaults["notify.retry.attempts"] == "15")
    #expect(defaults["events.*.mode"] == "\"0600\"")
  }

  @Test("a file with every default of the host is the configuration without a file")
  func sameAsNone() throws {
    // These are only for a host on TCP, for one with a collector, and for one of a fleet.
    let others: Set<String> = [
      "control.names", "control.certificate", "control.key", "control.plaintext", "traces.service_name", "traces.sample",
      "fleet.labels", "fleet.max_pending",
    ]
    let text = Self.keys.filter { !others.contains($0.key) }.filter {
      !$0.key.contains("*") && !["notify", "trusted_keys"].contains($0.key.prefix { $0 != "." })
    }
    .compactMap { key in key.standard.map { "\(key.key) = \($0)\n" } }.joined()
    let configuration = try HostConfiguration.parse(text, file: "/etc/taskhost/taskhost.toml")
    #expect(configuration.settings(hidingSecrets: false) == [])
    #expect(try configuration == HostConfiguration.parse("", file: "/etc/taskhost/taskhost.toml"))
  }

  @Test("the configuration that packages install shows every key, under the same sentences")
  func installed() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let shown = try Self.shown(String(contentsOf: root.appending(path: "Packaging/taskhost.toml"), encoding: .utf8))
    for key in Self.keys where !key.key.hasPrefix("command.") || shown[key.key] != nil {
      let comments = shown[key.key] ?? []
      #expect(!comments.isEmpty, "Packaging/taskhost.toml does not show \(key.key)")
      for comment in comments where !comment.isEmpty {
        #expect(comment.hasPrefix(key.about.dropLast()), "\(key.key): \"\(comment)\" does not begin with \"\(key.about)\"")
      }
    }
    let known = Set(Self.keys.map(\.key))
    for key in shown.keys where !key.hasPrefix("plugin.*.settings") && !key.hasPrefix("resources.") {
      #expect(known.contains(key), "Packaging/taskhost.toml shows \(key), which the host does not read")
    }
  }

  /// The comments before each key, by the key.
  private static func shown(_ text: String) throws -> [String: [String]] {
    var shown: [String: [String]] = ["resources": [""], "plugin.*.settings": [""]]
    var (table, comment) = ("", [String]())
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line.hasPrefix("# ") {
        comment.append(String(line.dropFirst(2)))
        continue
      }
      defer { comment = [] }
      let entry = line.hasPrefix("#") ? String(line.dropFirst()) : line
      if entry.hasPrefix("[") {
        table = entry.trimmingCharacters(in: CharacterSet(charactersIn: "[]")).replacing(try Regex("\"[^\"]*\""), with: "*") + "."
        // Names without quotes.
        for kind in ["windows.", "events."] where table.hasPrefix(kind) { table = kind + "*." }
      } else if let sign = entry.range(of: " = ") {
        shown[table + entry[..<sign.lowerBound], default: []].append(comment.joined(separator: " "))
      }
    }
    return shown
  }
}
