import Testing

/// Expects that a broken file is refused as the design wants it: by code, naming the file, saying what was seen and what to do.
func expectRefusal(
  _ item: BrokenFileTests.Case, of host: HostProcess, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  let plugin = try await host.plugin(item.file)
  let message = plugin["reason"]?["message"]?.string ?? ""
  #expect(plugin["standing"]?.string == "refused", "\(item.file)", sourceLocation: sourceLocation)
  #expect(plugin["reason"]?["code"]?.string == item.code, "\(item.file): \(message)", sourceLocation: sourceLocation)
  for words in item.seen { #expect(message.contains(words), "\(item.file): \(message)", sourceLocation: sourceLocation) }
  // What was seen, then what to do: two sentences at least.
  #expect(message.split(separator: ". ").count >= 2 && message.hasSuffix("."), "\(item.file): \(message)", sourceLocation: sourceLocation)
  guard plugin["standing"]?.string == "refused" else { return }
  let line = try await host.current.line(with: "plugin refused", item.file)
  #expect(line.contains(item.code), "\(line)", sourceLocation: sourceLocation)
}

/// Expects that the well-behaved plugin beside broken ones does its work.
func expectTwinRuns(_ host: HostProcess, sourceLocation: SourceLocation = #_sourceLocation) async throws {
  let twin = try await host.plugin("twin.so")
  #expect(twin["standing"]?.string == "registered", sourceLocation: sourceLocation)
  let run = try await host.json("submit", "test.twin", "--wait")
  #expect(run["outcome"]?.string == "succeeded", sourceLocation: sourceLocation)
}
