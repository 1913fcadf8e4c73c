public import Glibc
public import TaskStore
import ValueSealing

extension HostConfiguration {
  /// `[encryption]`: whether the values of the store are sealed. Without a key, they are not.
  public struct Encryption: Sendable, Equatable {
    /// `key_file`: path of the file with the store's keys; nil for none.
    public var keyFile: String?

    /// `credential`: name of the credential of systemd with the store's keys; nil for none.
    public var credential: String?

    /// `seal`: whether values are sealed; false opens what was sealed before, and writes it plain.
    public var seal = true

    /// Whether there are keys.
    public var hasKeys: Bool { keyFile != nil || credential != nil }

    static var fields: [TOMLField<Self>] {
      [
        TOMLField(
          "key_file", optional: \.keyFile, .path,
          about: "The file with the keys, made by taskhost store key. Only the host's user or root may be able to read it. None by default."
        ),
        TOMLField(
          "credential", optional: \.credential, .credentialName,
          about: "The keys as a credential of systemd (LoadCredential=, LoadCredentialEncrypted=), by its name, instead of key_file."),
        TOMLField(
          "seal", \.seal, .bool,
          about: "Whether values are sealed. With false, the keys open what is sealed, and all of it is written plain again."),
      ]
    }
  }

  func reportContradictionsOfEncryption(to reader: TOMLReader) {
    if encryption.keyFile != nil, encryption.credential != nil {
      reader.report(["encryption", "credential"], "there is a key_file too, and the keys can come from one place only: remove one of them")
    }
    guard !encryption.hasKeys, !encryption.seal, reader.isSound("encryption", "key_file"),
      reader.isSound("encryption", "credential")
    else { return }
    reader.report(
      ["encryption", "seal"],
      "seal is false, and no keys open what is sealed: set encryption.key_file, or remove the table")
  }

  /// The keys of the store; nil if it is not sealed. Reads their file.
  ///
  /// - Parameter user: The user of the host. The file must belong to this user or root.
  public func sealing(user: UInt32 = geteuid()) throws(HostFailure) -> StoreSealing? {
    guard let (path, source) = try keyPlace() else { return nil }
    let missing = SealingSupport.missing
    guard missing.isEmpty else {
      throw HostFailure(
        .configuration,
        "encryption: libcrypto (OpenSSL) of this machine has no \(missing.joined(separator: " and no ")), so that values can be neither sealed "
          + "nor opened: install an OpenSSL with it, such as Debian's libssl3")
    }
    do throws(KeyFileError) {
      return StoreSealing(keys: try KeyFile.read(path, from: source, user: user), seals: encryption.seal)
    } catch {
      throw HostFailure(.configuration, "encryption.\(source == .file ? "key_file" : "credential"): \(error)")
    }
  }

  /// Where the keys come from; nil if there are none.
  func keyPlace() throws(HostFailure) -> (path: String, source: KeyFile.Source)? {
    if let file = encryption.keyFile { return (file, .file) }
    guard let name = encryption.credential else { return nil }
    guard let directory = getenv("CREDENTIALS_DIRECTORY").map({ String(cString: $0) }), directory.hasPrefix("/") else {
      throw HostFailure(
        .configuration,
        "encryption.credential: systemd has handed over no credentials (CREDENTIALS_DIRECTORY is not set): "
          + "add LoadCredential=\(name):FILE to the host's unit, or set encryption.key_file")
    }
    return ("\(directory)/\(name)", .credential)
  }
}

extension TOMLConverter<String> {
  /// The name of a credential, as systemd takes it: a file name of at most 255 bytes.
  fileprivate static var credentialName: Self {
    .text("a name") { text, _ throws(TextProblem) in
      let isName =
        (1...255).contains(text.utf8.count) && text != "." && text != ".."
        && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x2f && $0 != 0x3a }
      guard isName else { throw TextProblem("the name of a credential is expected: at most 255 characters, none of them / or :") }
      return text
    }
  }
}
