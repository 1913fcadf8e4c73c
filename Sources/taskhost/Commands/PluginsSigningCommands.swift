import ArgumentParser
import StrictText
import PluginTrust

struct PluginsKeygenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keygen",
    abstract: "Make a key pair for signing plugins. Needs no host.",
    discussion: """
      Writes NAME.key, which only you may read, and NAME.pub, for the operators of
      hosts. Never replaces a file: if one exists, the command exits 1.

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
    } catch { throw CommandFailure(error) }
    guard !json else {
      return Terminal.printObject { writer in
        writer.member("id", key.publicKey.id)
        writer.member("private_key", name + ".key")
        writer.member("public_key", name + ".pub")
      }
    }
    Terminal.print("\(name).key  private: keep it secret, and keep a copy")
    Terminal.print("\(name).pub  public: for trusted_keys")
    Terminal.print("key id \(key.publicKey.id)")
  }
}

struct PluginsSignCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign",
    abstract: "Sign a plugin file. Needs no host.",
    discussion: """
      Writes the signature to FILE.sig, where a host looks for it, and replaces an
      earlier one. Sign last: a file that is stripped or changed afterwards needs a
      new signature. `plugins inspect` shows what a host would refuse.

      EXAMPLES
        taskhost plugins sign libVendor.so --key vendor.key
        taskhost plugins sign libVendor.so --key vendor.key --output libVendor.so.sig
      """)

  @Argument(help: "The plugin's file.")
  var file: String
  @Option(help: ArgumentHelp("The private key from keygen.", valueName: "name.key"))
  var key: String
  @Option(name: .shortAndLong, help: ArgumentHelp("The signature's file. (default: FILE.sig)", valueName: "file"))
  var output: String?
  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    let output = output ?? PluginSigning.signatureFile(of: file)
    let (signing, digest): (PluginSigningKey, String)
    do throws(SigningFileError) {
      signing = try PluginSigningKey(reading: key)
      digest = try PluginSigning.sign(file, with: signing, output: output)
    } catch { throw CommandFailure(error) }
    guard json else { return Terminal.print("\(output)  by the key \(signing.publicKey.id), sha256 \(digest)") }
    Terminal.printObject { writer in
      writer.member("file", file)
      writer.member("sha256", digest)
      writer.member("key", signing.publicKey.id)
      writer.member("signature", output)
    }
  }
}

struct PluginsVerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check a plugin file's signature. Needs no host.",
    discussion: """
      Exits 1 unless one of the keys signed the file in its present form. A host
      checks more before it loads a plugin: see `plugins inspect`.

      EXAMPLES
        taskhost plugins verify libVendor.so --key vendor.pub
        taskhost plugins verify libVendor.so --key old.pub --key new.pub --json
      """)

  @Argument(help: "The plugin's file.")
  var file: String
  @Option(help: ArgumentHelp("A public key that may have signed it; may be repeated.", valueName: "name.pub"))
  var key: [String]
  @Option(help: ArgumentHelp("The signature's file. (default: FILE.sig)", valueName: "file"))
  var signature: String?
  @Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    guard !key.isEmpty else { throw ValidationError("Name the signer's public key with --key.") }
  }

  func run() throws {
    do throws(SigningFileError) {
      var keys: [PluginPublicKey] = []
      for path in key { keys.append(try PluginPublicKey(reading: path)) }
      let signer = try PluginSigning.verify(file, signature: signature, keys: keys)
      if json { return printJSON(signer: signer.id, failure: nil) }
      Terminal.print("\(file) is signed with the key \(signer.id)")
    } catch {
      if json { printJSON(signer: nil, failure: error) }
      throw CommandFailure(error)
    }
  }

  private func printJSON(signer: String?, failure: SigningFileError?) {
    Terminal.printObject { writer in
      writer.member("file", file)
      writer.member("valid", failure == nil)
      writer.member("key", signer)
      writer.member("message", failure?.description)
    }
  }
}

extension CommandFailure {
  /// A key, signature or file that could not be used.
  fileprivate init(_ error: SigningFileError) { self.init(.failed, error.file, error.observed, remedy: error.remedy) }
}
