import ArgumentParser
import Glibc
import HostThreads
import PluginTrust
import StrictText
import TaskHost
import TaskModel

/// Where plugins are installed.
struct PluginFolderOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The plugin directory. (default: that of the configuration outside of /usr)", valueName: "directory"))
  var into: String?
  @Option(help: ArgumentHelp("The host's configuration. (default: taskhost.toml, or /etc/taskhost/taskhost.toml)", valueName: "file"))
  var config: String?
  @Flag(help: "Print JSON.")
  var json = false

  /// The host's configuration; nil if there is none and `--into` names the directory.
  func configuration() throws -> HostConfiguration? {
    let choice = ConfigurationChoice.ofCommand(config)
    guard choice != .defaults else { return nil }
    do { return try choice.load() } catch {
      throw CommandFailure(.failed, nil, "\(error)", remedy: "correct the configuration, or name another with --config")
    }
  }

  func directory(_ configuration: HostConfiguration?) throws(CommandFailure) -> String {
    if let into { return into }
    guard let configuration else {
      throw CommandFailure(.usage, nil, "there is no taskhost.toml, here or in /etc/taskhost", remedy: "name the directory with --into")
    }
    // What is below /usr belongs to packages.
    let own = configuration.pluginDirectories.filter { !$0.hasPrefix("/usr/") }
    guard let directory = own.first, own.count == 1 else {
      let all = configuration.pluginDirectories.joined(separator: ", ")
      throw CommandFailure(.usage, nil, "which plugin directory? The configuration has: \(all)", remedy: "name one with --into")
    }
    return directory
  }

  /// The plugin that `argument` names: a file's name, or an identifier that a file in the directory names.
  func fileName(_ argument: String, in directory: String) throws(CommandFailure) -> String {
    let name = argument.split(separator: "/").last.map(String.init) ?? argument
    if PluginDirectoryScan.lists(name) {
      let place = String(argument.dropLast(name.utf8.count))
      guard place.isEmpty || RealPath.of(place).map({ $0 == RealPath.of(directory) }) ?? false else {
        throw CommandFailure(.failed, argument, "is not in \(directory)", remedy: "give the name alone, or name its directory with --into")
      }
      return name
    }
    for folder in [directory, PluginInstallation.previousFolder(in: directory)] {
      let names = ((try? DirectoryNames.list(at: folder)) ?? []).filter(PluginDirectoryScan.lists)
      if let name = names.first(where: { Self.identifier(of: "\(folder)/\($0)") == argument }) { return name }
    }
    throw CommandFailure(
      .failed, argument, "no plugin in \(directory) names this identifier", remedy: "give the name of its file, such as libVendor.so")
  }

  private static func identifier(of path: String) -> String? {
    path.hasSuffix(".so")
      ? (try? PluginInspector.inspect(path))?.elf.note?.identifier
      : (try? PluginInspector.inspectManifest(path))?.adoption.identifier.rawValue
  }
}

/// What a command has done to a plugin directory.
private struct InstalledPlugin {
  let installation: PluginInstallation
  var identifier: String?
  var version: String?

  /// Does `body`, whose failures become a command's.
  static func reporting<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let failure as PluginInstallation.Failure {
      throw CommandFailure(.failed, failure.file, failure.observed, remedy: failure.remedy)
    }
  }

  /// Checks the new file as the host does, and remembers what it is.
  mutating func check(_ path: String, _ configuration: HostConfiguration?) throws {
    do throws(PluginRefusal) {
      (identifier, version) = try PluginInspector.check(path, for: configuration ?? HostConfiguration.defaults())
    } catch { throw CommandFailure(.failed, installation.name, error.observed, remedy: error.remedy) }
  }

  func tell(_ what: String, json: Bool) {
    let hasPrevious = installation.hasPrevious
    guard !json else {
      return Terminal.printObject { writer in
        writer.member("file", installation.path)
        writer.member("action", what)
        writer.member("identifier", identifier)
        writer.member("version", version)
        writer.member("has_previous", hasPrevious)
      }
    }
    let details = [identifier, version.map { "version \($0)" }].compactMap(\.self).joined(separator: ", ")
    Terminal.print("\(what) \(installation.path)\(details.isEmpty ? "" : " (\(details))")")
    if hasPrevious { Terminal.note("the earlier one is kept: taskhost plugins rollback \(installation.name)") }
    Terminal.note("a running host takes it after: taskhost reload")
  }
}

struct PluginsInstallCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "install",
    abstract: "Put a plugin into the plugin directory, and keep the one that it replaces. Needs no host.",
    discussion: """
      FILE is a plugin NAME.so with NAME.so.sig beside it if it is signed, a manifest
      NAME.task.toml, or an archive of these (.tar, .tar.gz, .tar.xz, .tar.zst).
      The file is checked as the host checks it, its signature too, before anything
      changes; none of its code runs. Each file is replaced in one step.

      EXAMPLES
        taskhost plugins install ./hello-c.so --into plugins
        taskhost plugins install ./hello-c.so --into plugins --json
      """)

  @Argument(help: "The plugin, the manifest, or an archive.")
  var file: String
  @OptionGroup var folder: PluginFolderOptions

  func run() throws {
    try InstalledPlugin.reporting {
      let (name, content) = try read()
      let configuration = try folder.configuration()
      var plugin = InstalledPlugin(installation: try PluginInstallation(name, in: folder.directory(configuration)))
      let replaces = try plugin.installation.install(content) { try plugin.check($0, configuration) }
      plugin.tell(replaces ? "replaced" : "installed", json: folder.json)
    }
  }

  private func read() throws -> (String, PluginInstallation.Content) {
    if PluginArchive.isOne(file) { return try PluginArchive.read(file) }
    let name = file.split(separator: "/").last.map(String.init) ?? file
    guard let content = try PluginInstallation.Content.read(file) else { throw CommandFailure(.failed, file, "does not exist") }
    return (name, content)
  }
}

struct PluginsRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Take a plugin out of the plugin directory, and keep it. Needs no host.",
    discussion: """
      `taskhost plugins rollback` puts it back.

      EXAMPLES
        taskhost plugins remove org.taskhost.samples.hello-c --into plugins
      """)

  @Argument(help: "The name of the plugin's file, or its identifier if the file names it.")
  var plugin: String
  @OptionGroup var folder: PluginFolderOptions

  func run() throws {
    try InstalledPlugin.reporting {
      let directory = try folder.directory(folder.configuration())
      let installation = try PluginInstallation(folder.fileName(plugin, in: directory), in: directory)
      try installation.remove()
      InstalledPlugin(installation: installation).tell("removed", json: folder.json)
    }
  }
}

struct PluginsRollbackCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rollback",
    abstract: "Put back the version of a plugin that the last install or remove has replaced. Needs no host.",
    discussion: """
      The version that is there now is kept: a second rollback undoes the first.
      After a removal, the first puts the plugin back, and a second removes it again.

      EXAMPLES
        taskhost plugins rollback hello-c.so --into plugins
      """)

  @Argument(help: "The name of the plugin's file, or its identifier if the file names it.")
  var plugin: String
  @OptionGroup var folder: PluginFolderOptions

  func run() throws {
    try InstalledPlugin.reporting {
      let configuration = try folder.configuration()
      let directory = try folder.directory(configuration)
      var plugin = InstalledPlugin(installation: try PluginInstallation(folder.fileName(plugin, in: directory), in: directory))
      try plugin.installation.rollBack { try plugin.check($0, configuration) }
      plugin.tell("rolled back", json: folder.json)
    }
  }
}
