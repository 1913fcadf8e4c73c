import ArgumentParser
import PluginTrust
import StrictText

/// `taskhost plugins keygen`
struct PluginsKeygenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keygen",
    abstract: "Make a key pair to sign plugins with. Needs no host.",
    discussion: """
      Writes NAME.key, which only you may read, and NAME.pub, which goes to the operators of hosts.
      Files that are there already are left alone, and the command exits 1.

      EXAMPLES
        taskhost plugins keygen vendor
        taskhost plugins keygen ~/keys/vendor-2027 --json
      """)

  @Argument(help: "The files' path without .key and .pub.")
  var name: String
  @Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    guard !name.isEmpty, !name.hasSuffix("/") else { throw ValidationError("Give the files a name.") }
    guard !name.hasSuffix(".key"), !name.hasSuffix(".pub") else { throw ValidationError("Give the name without .key or .pub.") }
  }

  func run() throws {
    let key: PluginSigningKey
    do throws(SigningFileError) {
      key = try PluginSigningKey.generate()
      try key.writeFiles(named: name)
    } catch {
      throw CommandFailure(error)
    }
    if json {
      return Terminal.printObject {
        $0.member("id", key.publicKey.id)
        $0.member("private_key", name + ".key")
        $0.member("public_key", name + ".pub")
      }
    }
    Terminal.print("\(name).key  private, keep it secret and keep a copy")
    Terminal.print("\(name).pub  public, for trusted_keys")
    Terminal.print("key id \(key.publicKey.id)")
  }
}
