// Code written for iOS imports BackgroundTasks alone and gets Foundation with it; the exported line needs the C names.
@_exported public import CTaskHost
@_exported public import Dispatch
@_exported public import Foundation
