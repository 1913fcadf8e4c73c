import CCrashCell
import CTaskHostSystem
import Glibc
import HostProcesses
import HostThreads

/// Starts a case process: this program again, in its own process group, with the descriptors of ``CaseProcess``.
extension CaseChild {
  init(_ order: CaseOrder, directory: String) throws(CheckFailure) {
    do throws(SystemFailure) { self = try Self.start(order, directory: directory) } catch {
      throw CheckFailure("a case process could not be started: \(error.what): \(error.reason)")
    }
  }

  private static func start(_ order: CaseOrder, directory: String) throws(SystemFailure) -> CaseChild {
    guard let executable = realpath("/proc/self/exe", nil) else { throw SystemFailure("the path of this program") }
    defer { free(executable) }
    let descriptors = ChildDescriptors()
    let orderFile = try descriptors.high(descriptors.own(taskhost_system_memfd("taskhost-check-order")), "its order")
    try write(order.encode(), to: orderFile)
    let news = try descriptors.pipe()
    let output = try descriptors.pipe()
    let null = try descriptors.high(descriptors.own(open("/dev/null", O_RDONLY | O_CLOEXEC)), "/dev/null")
    let cell = try descriptors.crashCell()
    let program = ChildProgram(
      String(cString: executable), arguments: ["taskhost", CaseProcess.argument], environment: Self.environment, directory: directory)
    do throws(SystemFailure) {
      let child = try program.start([
        (null, 0), (output.write, 1), (output.write, 2), (orderFile, CaseProcess.orderDescriptor),
        (news.write, CaseProcess.newsDescriptor), (cell.descriptor, CaseProcess.cellDescriptor),
      ])
      return CaseChild(
        process: child.process, processDescriptor: child.descriptor, news: descriptors.take(news.read),
        output: descriptors.take(output.read), cell: cell.memory)
    } catch {
      munmap(cell.memory, MemoryLayout<taskhost_crash_cell>.size)
      throw error
    }
  }

  private static var environment: [String] {
    var variables: [String] = []
    var next = environ
    while let variable = next.pointee {
      variables.append(String(cString: variable))
      next += 1
    }
    return variables
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemFailure) {
    do throws(ErrorNumber) { try WholeTransfer.write(bytes, to: descriptor) } catch { throw SystemFailure("its order", error.code) }
    lseek(descriptor, 0, SEEK_SET)
  }
}
