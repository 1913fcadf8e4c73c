import Foundation
import Testing

/// The house as `Package.swift` and the README draw it: a module imports only what its row says.
@Suite("Imports") struct ImportTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static let allowed: [String: Set<String>] = [
    "Sources/TaskModel": [],
    "Sources/CalendarTime": ["Glibc", "TaskModel"],
    "Sources/Failpoints": ["Glibc", "Synchronization"],
    "Sources/SchedulingLimits": ["CalendarTime", "StrictText", "TaskModel"],
    "Sources/MemoryStore": ["HostThreads", "TaskModel"],
    "Sources/HostConditions": ["CTaskHostSystem", "Glibc", "HostThreads", "TaskModel"],
    "Sources/HostWatches": ["CHostWatches", "CTaskHostSystem", "Glibc", "HostThreads"],
    "Sources/OpenFiles": ["COpenFiles", "DequeModule", "Glibc", "HostThreads", "TaskModel"],
    "Sources/StrictText": [],
    "Sources/HostThreads": ["CTaskHostSystem", "Glibc", "TaskModel"],
    "Sources/PluginTrust": ["Crypto", "Glibc", "HostThreads", "StrictText", "Synchronization", "TaskModel"],
    "Sources/HostProcesses": ["CCrashCell", "CTaskHostSystem", "Glibc"],
    "Sources/WorkerLink": ["CTaskHostSystem", "Glibc", "TaskModel"],
    "Sources/WorkerSandbox": ["CWorkerSandbox", "Glibc", "Synchronization", "TaskModel"],
    "Sources/WorkerProcesses": [
      "CCrashCell", "CTaskHostSystem", "DequeModule", "Glibc", "HostProcesses", "HostThreads", "TaskModel", "WorkerLink",
    ],
    "Sources/taskhost-worker": [
      "CCrashCell", "CTaskHostSystem", "CWorkerDenials", "DequeModule", "Glibc", "HostThreads", "OpenFiles", "PluginRuntime", "TaskModel",
      "WorkerLink", "WorkerSandbox",
    ],
    "Sources/PluginRuntime": [
      "CCrashCell", "CTaskHost", "CTaskHostSystem", "DequeModule", "Glibc", "HeapModule", "HostThreads", "Synchronization", "TaskModel",
      "TypedCalls",
    ],
    "Sources/TaskStore": ["Failpoints", "Foundation", "GRDB", "GRDBSQLite", "Glibc", "HostThreads", "TaskModel"],
    "Sources/TaskScheduler": [
      "CalendarTime", "Failpoints", "HostThreads", "MemoryStore", "SchedulingLimits", "StrictText", "Synchronization", "TaskModel",
    ],
    "Sources/HostControl": [
      "CalendarTime", "DequeModule", "Glibc", "HTTPTypes", "HummingbirdCore", "Logging", "NIOCore", "NIOHTTP1", "NIOPosix",
      "ServiceLifecycle",
      "StrictText",
      "Synchronization", "TaskModel",
    ],
    "Sources/TaskHost": [
      "CCrashCell", "CalendarTime", "Crypto", "Failpoints", "Foundation", "FoundationEssentials", "CTaskHostSystem", "Glibc",
      "HostConditions", "HostThreads", "HostWatches", "Logging", "OpenFiles", "PluginRuntime", "PluginTrust", "SchedulingLimits",
      "StrictText",
      "Synchronization", "TaskModel", "TaskScheduler", "TaskStore", "TOMLKit", "TypedCalls", "WorkerLink",
      "WorkerProcesses", "WorkerSandbox",
    ],
    "Sources/HTTPTransfer": ["CCurl", "Glibc", "Synchronization"],
    "Sources/TypedCalls": ["CLibFFI", "Glibc", "StrictText", "TaskModel"],
    "Sources/PluginCheck": [
      "CCrashCell", "CPluginCheck", "CTaskHost", "CTaskHostSystem", "Glibc", "HostProcesses", "HostThreads", "PluginRuntime", "PluginTrust",
      "Synchronization", "TaskModel", "TypedCalls",
    ],
    "SDK/BackgroundTasks": ["CTaskHost", "CTaskHostPlugin", "CBackgroundTasks", "Dispatch", "Foundation", "Glibc", "Synchronization"],
    "SDK/TaskHostTesting": ["CTaskHost", "FoundationEssentials", "Glibc", "Logging", "Musl", "Synchronization", "TaskHostSDK"],
    "SDK/TaskHostSDK": ["CTaskHost", "CTaskHostPlugin", "FoundationEssentials", "Glibc", "Logging", "Musl", "Synchronization"],
  ]

  @Test("a module imports only modules below it", arguments: allowed.keys.sorted())
  func downwards(_ folder: String) throws {
    let allowed = try #require(Self.allowed[folder])
    var seen = 0
    let files = try #require(FileManager.default.enumerator(at: Self.root.appending(path: folder), includingPropertiesForKeys: nil))
    for case let file as URL in files where file.pathExtension == "swift" {
      seen += 1
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        guard let module = Self.importedModule(line) else { continue }
        #expect(allowed.contains(module), "\(file.lastPathComponent) imports \(module)")
      }
    }
    #expect(seen > 0)
  }

  /// The module that a line imports, whatever stands before and behind the word; nil: it imports none.
  private static func importedModule(_ line: Substring) -> String? {
    let words = line.split(separator: " ")
    guard let position = words.firstIndex(of: "import"), position + 1 < words.count,
      words[..<position].allSatisfy({ $0.hasPrefix("@") || ["public", "package", "internal", "private", "fileprivate"].contains($0) })
    else { return nil }
    return String(words[position + 1].split(separator: ".")[0])
  }
}
