//! A complete taskhost plugin in Rust (1.63 or later), without cargo and without dependencies:
//!
//! ```sh
//! rustc --edition 2021 --crate-type cdylib -O -C panic=unwind -C strip=symbols -o hello-rust.so hello.rs
//! ```
//!
//! A run greets with its payload, counts to ten in steps of a tenth of a second, and outputs the count. If it is asked to stop,
//! it says so, and the host runs it again.
//!
//! `abi` contains the parts of taskhost.h that this plugin needs; `task` makes them safe; the rest is the plugin.

use std::ffi::CStr;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicPtr, Ordering};

use task::{Error, Task};

/// The host reads this before it calls anything.
#[no_mangle]
#[allow(non_upper_case_globals)]
pub static taskhost_plugin_abi_version: u32 = abi::ABI_VERSION;

/// Tells the host the identifier, and so the settings, sandbox and limits, before any of this code runs.
#[used]
#[link_section = ".note.taskhost"]
static NOTE: abi::Note<100> =
    abi::Note::new(b"format=1\nabi=1\nidentifier=org.taskhost.samples.hello-rust\nkind=refresh\nbudget_ms=0\nversion=1.0.0\n");

/// The host's functions. The launch sets this before any run; the table lives as long as the process.
static HOST: AtomicPtr<abi::Api> = AtomicPtr::new(std::ptr::null_mut());

/// The work of one run: ordinary, safe Rust.
fn hello(task: Task) -> Result<abi::Outcome, Error> {
    let payload = String::from_utf8_lossy(task.payload()?);
    task.info(&format!("hello, {}", if payload.is_empty() { "world" } else { &payload }))?;

    let steps = 10;
    for step in 1..=steps {
        // Returns early once the run has expired: the expiration path of a handler that waits or computes in small steps.
        match task.sleep_ms(100) {
            Ok(()) => task.progress(step, steps)?,
            Err(Error { status: abi::EEXPIRED, .. }) => {
                task.set_message("asked to stop before the end");
                return Ok(abi::RETRY);
            }
            Err(error) => return Err(error),
        }
    }
    task.set_output(br#"{"counted":10}"#)?;
    Ok(abi::SUCCESS)
}

/// The function that the host calls. Panics and errors end here.
extern "C" fn handler(handle: u64, _context: *mut c_void) -> abi::Outcome {
    let host = HOST.load(Ordering::Acquire);
    // SAFETY: the launch stored the table before the host could start a run, and the table is never freed.
    let task = match unsafe { host.as_ref() } {
        Some(host) => Task::new(host, handle),
        None => return abi::FAILURE,
    };
    // Unwind safe: after a panic, only the handle is used, which is a number.
    match catch_unwind(AssertUnwindSafe(|| hello(task))) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => {
            task.set_message(&error.message);
            abi::RETRY
        }
        Err(_) => {
            task.set_message("the handler panicked; its message is in the host's log");
            abi::FAILURE
        }
    }
}

/// Registers the handler.
///
/// # Safety
/// `api` is NULL or the host's table, as taskhost.h says.
#[no_mangle]
pub unsafe extern "C" fn taskhost_plugin_launch(api: *const abi::Api, launch: u64) -> abi::Status {
    let host = match api.as_ref() {
        Some(host) => host,
        None => return abi::EINVAL,
    };
    // The size says which functions the table has; `abi::Api` names all of version 1.
    if host.abi_version < abi::ABI_VERSION || (host.struct_size as usize) < std::mem::size_of::<abi::Api>() {
        return abi::EUNSUPPORTED;
    }
    HOST.store(api as *mut abi::Api, Ordering::Release);

    let registration = abi::Registration {
        struct_size: std::mem::size_of::<abi::Registration>() as u32,
        kind: abi::REFRESH,
        identifier: b"org.taskhost.samples.hello-rust\0".as_ptr() as *const c_char,
        handler: Some(handler),
        context: std::ptr::null_mut(),
        display_name: b"Hello from Rust\0".as_ptr() as *const c_char,
        version: b"1.0.0\0".as_ptr() as *const c_char,
        budget_ms: 0,
        max_concurrent_runs: 0,
        reserved: 0,
        signature: std::ptr::null(),
        function: None,
    };
    (host.register_handler)(launch, &registration) // copied before it returns
}

/// The safe interface to the table.
mod task {
    use super::{abi, c_void, CStr};
    use std::ffi::CString;

    /// A failed call to the host, with the host's sentence about it.
    pub struct Error {
        pub status: abi::Status,
        pub message: String,
    }

    /// One run. The handle is a number: a call after the run is over returns an error and changes nothing, so any thread may have a copy.
    #[derive(Clone, Copy)]
    pub struct Task {
        host: &'static abi::Api,
        handle: u64,
    }

    impl Task {
        pub fn new(host: &'static abi::Api, handle: u64) -> Task {
            Task { host, handle }
        }

        /// The request's payload. The host keeps it until the handler has returned, which the borrow of `self` represents.
        pub fn payload(&self) -> Result<&[u8], Error> {
            let mut bytes: *const c_void = std::ptr::null();
            let mut length = 0;
            // SAFETY: both pointers are valid for the call.
            self.check(unsafe { (self.host.payload)(self.handle, &mut bytes, &mut length) })?;
            // SAFETY: after OK, the pointer is not NULL and `length` bytes are valid.
            Ok(unsafe { std::slice::from_raw_parts(bytes as *const u8, length) })
        }

        pub fn info(&self, line: &str) -> Result<(), Error> {
            let line = c_string(line);
            // SAFETY: the string is valid during the call, and copied.
            self.check(unsafe { (self.host.log)(self.handle, abi::INFO, line.as_ptr()) })
        }

        pub fn progress(&self, completed: u64, total: u64) -> Result<(), Error> {
            // SAFETY: numbers only.
            self.check(unsafe { (self.host.progress)(self.handle, completed, total) })
        }

        /// Sleeps on the host's clock. Returns `EEXPIRED` as soon as the run has expired.
        pub fn sleep_ms(&self, milliseconds: u64) -> Result<(), Error> {
            // SAFETY: numbers only.
            self.check(unsafe { (self.host.sleep)(self.handle, milliseconds) })
        }

        pub fn set_output(&self, bytes: &[u8]) -> Result<(), Error> {
            // SAFETY: the bytes are valid during the call, and copied.
            self.check(unsafe { (self.host.set_output)(self.handle, bytes.as_ptr() as *const c_void, bytes.len()) })
        }

        /// Sets a sentence for the operator. A failure is ignored, because there is no one to tell.
        pub fn set_message(&self, text: &str) {
            let text = c_string(text);
            // SAFETY: the string is valid during the call, and copied.
            let _ = unsafe { (self.host.set_message)(self.handle, text.as_ptr()) };
        }

        fn check(&self, status: abi::Status) -> Result<(), Error> {
            if status == abi::OK {
                return Ok(());
            }
            // SAFETY: never NULL, and valid until this thread's next call.
            let message = unsafe { CStr::from_ptr((self.host.last_error)()) };
            Err(Error { status, message: message.to_string_lossy().into_owned() })
        }
    }

    /// The text as a C string. NUL characters are omitted, because they would cut it.
    fn c_string(text: &str) -> CString {
        let bytes: Vec<u8> = text.bytes().filter(|byte| *byte != 0).collect();
        CString::new(bytes).unwrap_or_default()
    }
}

/// taskhost.h, version 1: the names and numbers that this plugin uses, and the complete table and registration, whose layout matters.
/// A function that this plugin does not call is an untyped pointer.
mod abi {
    use super::{c_char, c_void};

    pub type Status = i32;
    pub type Outcome = i32;
    type Unused = *const c_void;

    pub const ABI_VERSION: u32 = 1;
    pub const OK: Status = 0;
    pub const EINVAL: Status = -1;
    pub const EEXPIRED: Status = -6;
    pub const EUNSUPPORTED: Status = -9;
    pub const SUCCESS: Outcome = 0;
    pub const RETRY: Outcome = 3;
    pub const FAILURE: Outcome = 4;
    pub const REFRESH: i32 = 1;
    pub const INFO: i32 = 2;

    /// The ELF note: its owner, and lines of `key=value` that end with a 0 byte. `SIZE` is the size of the lines with the 0 byte, rounded
    /// up to a multiple of 4.
    #[repr(C, align(4))]
    pub struct Note<const SIZE: usize> {
        owner_bytes: u32,
        lines_bytes: u32,
        note_type: u32,
        owner: [u8; 12],
        lines: [u8; SIZE],
    }

    impl<const SIZE: usize> Note<SIZE> {
        pub const fn new(text: &[u8]) -> Note<SIZE> {
            assert!(SIZE % 4 == 0 && text.len() < SIZE && SIZE <= text.len() + 4);
            let mut lines = [0; SIZE];
            let mut index = 0;
            while index < text.len() {
                lines[index] = text[index];
                index += 1;
            }
            Note { owner_bytes: 9, lines_bytes: text.len() as u32 + 1, note_type: 0x5448_0001, owner: *b"taskhost\0\0\0\0", lines }
        }
    }

    #[repr(C)]
    pub struct Registration {
        pub struct_size: u32,
        pub kind: i32,
        pub identifier: *const c_char,
        pub handler: Option<extern "C" fn(u64, *mut c_void) -> Outcome>,
        pub context: *mut c_void,
        pub display_name: *const c_char,
        pub version: *const c_char,
        pub budget_ms: u64,
        pub max_concurrent_runs: u32,
        pub reserved: u32,
        pub signature: *const c_char,
        pub function: Option<extern "C" fn()>,
    }

    #[repr(C)]
    pub struct Api {
        pub struct_size: u32,
        pub abi_version: u32,
        // Launch phase.
        pub register_handler: unsafe extern "C" fn(u64, *const Registration) -> Status,
        configuration: Unused,
        data_directory: Unused,
        launch_submit: Unused,
        launch_log: Unused,
        // Run phase.
        pub payload: unsafe extern "C" fn(u64, *mut *const c_void, *mut usize) -> Status,
        identifier: Unused,
        request_id: Unused,
        attempt: Unused,
        remaining_ms: Unused,
        grace_ms: Unused,
        is_expired: Unused,
        stop_reason: Unused,
        expiration_fd: Unused,
        set_expiration_handler: Unused,
        pub progress: unsafe extern "C" fn(u64, u64, u64) -> Status,
        pub log: unsafe extern "C" fn(u64, i32, *const c_char) -> Status,
        pub set_output: unsafe extern "C" fn(u64, *const c_void, usize) -> Status,
        pub set_message: unsafe extern "C" fn(u64, *const c_char) -> Status,
        retry_after: Unused,
        now_unix_ms: Unused,
        pub sleep: unsafe extern "C" fn(u64, u64) -> Status,
        state_get: Unused,
        state_set: Unused,
        checkpoint_get: Unused,
        checkpoint_set: Unused,
        submit: Unused,
        cancel: Unused,
        // Any time.
        pub last_error: unsafe extern "C" fn() -> *const c_char,
        extension: Unused,
    }

    // SAFETY: the host's table is read-only memory.
    unsafe impl Sync for Api {}

    // The sizes that taskhost.h asserts.
    const _: () = assert!(std::mem::size_of::<Registration>() == 80);
    const _: () = assert!(std::mem::size_of::<Api>() == 248);
}
