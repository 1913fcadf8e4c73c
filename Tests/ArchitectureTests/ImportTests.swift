import Foundation
import Testing

/// The floors of `Package.swift` and README: who may depend on whom, in the manifest and in the import lines of every file.
@Suite("Imports") struct ImportTests {
  private let manifest: PackageManifest
  private let files: [SourceFile]

  /// C targets whose functions the host or the dynamic linker calls.
  private static let linkedOnly: Set<String> = ["CBackgroundTasks", "CTaskHostPlugin"]

  /// Read once for all tests.
  private static let package = Result {
    let manifest = try PackageManifest()
    return (manifest, try ["Sources", "SDK", "Plugins"].flatMap { try SourceFile.all(in: $0, of: manifest) })
  }

  init() throws { (manifest, files) = try Self.package.get() }

  private static let system: Set<String> = ["Glibc", "Musl", "Dispatch", "Foundation", "FoundationEssentials", "Synchronization"]
  private static let foundation: Set<String> = ["Foundation", "FoundationEssentials"]
  /// These import nothing, not even the C library.
  private static let pure: Set<String> = ["TaskModel", "StrictText"]
  /// The rest of the host starts without Foundation.
  private static let usersOfFoundation: Set<String> = ["TaskStore", "TaskHostTesting"]

  @Test("every folder and every source file belongs to a target")
  func owned() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: PackageManifest.root.appending(path: "Sources").path())
    for folder in folders { #expect(manifest.owner(of: "Sources/\(folder)/") != nil, "Sources/\(folder) is not in Package.swift") }
    for file in files where !file.path.hasPrefix("Plugins/Samples/") {
      #expect(file.target != nil, "\(file.path) belongs to no target")
    }
    #expect(files.count > 500)
    #expect(manifest.targets.count > 80)
  }

  @Test("a module of the host depends on its own floor and on lower ones, and of the SDK on taskhost.h only")
  func floors() throws {
    for target in manifest.targets.values where target.isHost {
      let floor = try #require(target.floor, "\(target.name) is on no floor")
      for dependency in target.dependencies.compactMap({ manifest.targets[$0] }) {
        if dependency.isHost {
          #expect(try #require(dependency.floor) <= floor, "\(target.name) depends on \(dependency.name), which is on a higher floor")
        } else {
          #expect(dependency.name == "CTaskHost" || target.isTestKit && dependency.isSDK, "\(target.name) depends on \(dependency.name)")
        }
      }
    }
  }

  /// Text, HTTP, where programs are, the payload of transfers and system libraries, which know nothing of a host.
  private static let forPlugins: Set<String> = ["StrictText", "HTTPTransfer", "ProgramSearch", "TransferOrders", "CZlib", "COpenSSL"]

  @Test("the SDK depends on the SDK only, a plugin on the SDK, its own parts, text, HTTP and system libraries")
  func outside() {
    for target in manifest.targets.values where target.isSDK || target.isPlugin {
      for dependency in target.dependencies.compactMap({ manifest.targets[$0] }) {
        let isAllowed = dependency.isSDK || target.isPlugin && (dependency.isPlugin || Self.forPlugins.contains(dependency.name))
        #expect(isAllowed, "\(target.name) depends on \(dependency.name)")
      }
    }
    for file in files where file.path.hasPrefix("Plugins/Samples/") {
      for module in file.imports where module != "TaskHostTesting" {
        #expect(manifest.targets[module]?.isHost != true, "\(file.path) imports \(module)")
      }
    }
  }

  @Test("a Swift file imports only declared dependencies of its target, and Foundation only where it is wanted")
  func imports() {
    for file in files {
      guard let target = file.target.flatMap({ manifest.targets[$0] }) else { continue }
      for module in file.imports {
        if Self.pure.contains(target.name) {
          Issue.record("\(file.path) imports \(module)")
        } else if Self.foundation.contains(module) && target.isHost {
          #expect(Self.usersOfFoundation.contains(target.name), "\(file.path) imports \(module)")
        } else if !Self.system.contains(module) {
          #expect(target.dependencies.contains(module), "\(file.path) imports \(module), which \(target.name) does not declare")
        }
      }
    }
  }

  @Test("a C file includes headers of its own target and of declared dependencies")
  func includes() {
    var owners: [String: String] = [:]
    for file in files where file.path.hasSuffix(".h") { owners[file.fileName] = file.target }
    for file in files {
      let target = file.target.flatMap { manifest.targets[$0] }
      for header in file.includes {
        guard let owner = owners[header] else { continue }
        let isAllowed = target.map { $0.name == owner || $0.dependencies.contains(owner) } ?? (owner == "CTaskHost")
        #expect(isAllowed, "\(file.path) includes \(header) of \(owner)")
      }
    }
  }

  @Test("a declared dependency is imported")
  func used() {
    for target in manifest.targets.values where !target.isTest {
      let own = files.filter { $0.target == target.name }
      let imported = own.reduce(into: Set<String>()) { $0.formUnion($1.imports) }
      guard own.contains(where: { $0.path.hasSuffix(".swift") }) else { continue }
      for dependency in target.dependencies.subtracting(imported).subtracting(Self.linkedOnly) {
        Issue.record("\(target.name) declares \(dependency) and never imports it")
      }
    }
  }

  @Test(
    "scheduler, runtime and worker link neither Foundation nor a database nor a network library",
    arguments: ["PluginRuntime", "TaskScheduler", "taskhost-worker"])
  func light(_ name: String) {
    let closure = manifest.closure(of: name)
    #expect(closure.contains("TaskModel"))
    for dependency in closure {
      let isLight = manifest.targets[dependency] != nil || ["DequeModule", "HeapModule"].contains(dependency)
      #expect(isLight && !Self.usersOfFoundation.contains(dependency), "\(name) is linked with \(dependency)")
    }
  }
}
