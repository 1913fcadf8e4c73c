import Glibc
import HostProcesses
import TaskModel

/// The entitled paths of a worker, opened for it.
struct OpenedPaths {
  /// The worker's confinement, with the descriptors' numbers in the worker.
  private(set) var confinement: Confinement
  /// Entitlements without effect because nothing exists there, a sentence each.
  private(set) var ignored: [String] = []
  /// The descriptors, and their numbers in the worker.
  private(set) var transfers: [(from: Int32, to: Int32)] = []

  /// - Parameters:
  ///   - number: The worker's first free descriptor.
  ///   - descriptors: Own the opened descriptors.
  init(_ spec: WorkerSpec, from number: Int32, _ descriptors: ChildDescriptors) throws(WorkerSpawn.Failure) {
    confinement = spec.confinement
    var absent: Set<String> = []
    for entitled in spec.entitled where confinement.opened[entitled.path] == nil && !absent.contains(entitled.path) {
      do throws(EntitledPath.Trouble) {
        let descriptor = descriptors.own(try entitled.open())
        let target = number + Int32(clamping: transfers.count)
        do throws(SystemFailure) {
          transfers.append((try descriptors.high(descriptor, "a descriptor of \(entitled.path)"), target))
        } catch { throw .absent(error.code) }
        confinement.opened[entitled.path] = target
      } catch {
        switch error {
        case .absent(let code) where entitled.path == confinement.dataDirectory || code == EMFILE || code == ENFILE:
          throw WorkerSpawn.Failure(
            observed: "\(entitled.source) \(entitled.path) cannot be opened: \(String(cString: strerror(code)))",
            cause: WorkerSpawn.lacks(code) ? .resources : .paths)
        case .absent(let code):
          absent.insert(entitled.path)
          ignored.append(
            "\(entitled.source): \(entitled.path): \(String(cString: strerror(code))): it has no effect until the worker is started again")
        case .replaced(let what):
          throw WorkerSpawn.Failure(
            observed:
              "\(entitled.source): \(what): put back what was there, or restart the host, which looks at its paths when it launches",
            cause: .paths)
        }
      }
    }
    // The plugin is still entitled to absent paths, and may be told so.
    confinement.absentRead = confinement.read.filter(absent.contains)
    confinement.absentWrite = confinement.write.filter(absent.contains)
    confinement.read.removeAll(where: absent.contains)
    confinement.write.removeAll(where: absent.contains)
  }
}
