//! taskhost.h, version 1, as far as a plugin in Rust needs it. The header has every rule at the thing it governs.
#![allow(dead_code)]

use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicPtr, Ordering};

pub type Status = i32;
pub const OK: Status = 0;
pub const EINVAL: Status = -1;
pub const EEXPIRED: Status = -6;
pub const EUNSUPPORTED: Status = -9;

/// What a run comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Outcome {
    /// Done.
    Success = 0,
    /// There was nothing to do.
    Noop = 1,
    /// More to do: run again soon; costs no attempt.
    Snooze = 2,
    /// Failed for now: one attempt spent.
    Retry = 3,
    /// Failed for good.
    Failure = 4,
}

/// A call to the host that did not succeed, with the host's sentence about it.
#[derive(Debug)]
pub struct Error {
    pub status: Status,
    pub message: String,
}

impl Error {
    /// The run is asked to stop.
    pub fn expired() -> Error {
        Error { status: EEXPIRED, message: "the run has expired".to_string() }
    }
}

/// One run. The handle is a number: a call after the run is over gives an error and touches nothing.
pub struct Task {
    host: &'static Api,
    handle: u64,
}

impl Task {
    /// What the request carries; the host's until the handler has returned.
    pub fn payload(&self) -> Result<&[u8], Error> {
        let mut bytes: *const c_void = std::ptr::null();
        let mut length = 0;
        // SAFETY: both places are valid for the call.
        self.check(unsafe { (self.host.payload)(self.handle, &mut bytes, &mut length) })?;
        // SAFETY: after OK the bytes are not NULL and `length` long.
        Ok(unsafe { std::slice::from_raw_parts(bytes as *const u8, length) })
    }

    /// A line in the run's log.
    pub fn info(&self, line: &str) {
        let line = c_string(line);
        // SAFETY: the string is valid during the call, and copied.
        let _ = unsafe { (self.host.log)(self.handle, 2, line.as_ptr()) };
    }

    /// Progress, for people and for stall detection.
    pub fn progress(&self, completed: u64, total: u64) {
        // SAFETY: numbers only.
        let _ = unsafe { (self.host.progress)(self.handle, completed, total) };
    }

    /// Why it failed or retries, a sentence for the operator.
    pub fn set_message(&self, text: &str) {
        let text = c_string(text);
        // SAFETY: the string is valid during the call, and copied.
        let _ = unsafe { (self.host.set_message)(self.handle, text.as_ptr()) };
    }

    /// The run's output, at most 65,536 bytes.
    pub fn set_output(&self, bytes: &[u8]) -> Result<(), Error> {
        // SAFETY: the bytes are valid during the call, and copied.
        self.check(unsafe { (self.host.set_output)(self.handle, bytes.as_ptr() as *const c_void, bytes.len()) })
    }

    /// Sleeps on the host's clock; `EEXPIRED` as soon as the run has expired.
    pub fn sleep_ms(&self, milliseconds: u64) -> Result<(), Error> {
        // SAFETY: numbers only.
        self.check(unsafe { (self.host.sleep)(self.handle, milliseconds) })
    }

    /// Copies what `set_checkpoint` recorded, in an earlier run perhaps; gives its length.
    pub fn checkpoint(&self, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut length = 0;
        let place = buffer.as_mut_ptr() as *mut c_void;
        // SAFETY: the buffer is valid and as long as is said.
        self.check(unsafe { (self.host.checkpoint_get)(self.handle, place, buffer.len(), &mut length) })?;
        Ok(length)
    }

    /// Records where this run is; durable when it returns.
    pub fn set_checkpoint(&self, bytes: &[u8]) -> Result<(), Error> {
        // SAFETY: the bytes are valid during the call, and copied.
        self.check(unsafe { (self.host.checkpoint_set)(self.handle, bytes.as_ptr() as *const c_void, bytes.len()) })
    }

    /// Does `body` while `handler` waits to be told, on another thread, why the run must end. It is never called after this has returned.
    pub fn with_expiration_handler<H: Fn(i32) + Sync, R>(&self, handler: H, body: impl FnOnce() -> R) -> R {
        extern "C" fn call<H: Fn(i32) + Sync>(_task: u64, reason: i32, context: *mut c_void) {
            // SAFETY: the context is the handler below, which outlives the call: clearing waits for it. A panic must not reach the host.
            let _ = catch_unwind(AssertUnwindSafe(|| unsafe { (*(context as *const H))(reason) }));
        }
        struct Clear<'a>(&'a Task);
        impl Drop for Clear<'_> {
            fn drop(&mut self) {
                // SAFETY: NULL clears, and waits for a call in progress.
                let _ = unsafe { (self.0.host.set_expiration_handler)(self.0.handle, None, std::ptr::null_mut()) };
            }
        }
        let context = &handler as *const H as *mut c_void;
        // SAFETY: `handler` lives until `Clear` has been dropped, which is before it, whatever `body` does.
        let status = unsafe { (self.host.set_expiration_handler)(self.handle, Some(call::<H>), context) };
        let _clear = Clear(self);
        if status == EEXPIRED {
            handler(0); // either it is set or we are told
        }
        body()
    }

    fn check(&self, status: Status) -> Result<(), Error> {
        if status == OK {
            return Ok(());
        }
        // SAFETY: never NULL, and valid until this thread's next call.
        let message = unsafe { CStr::from_ptr((self.host.last_error)()) };
        Err(Error { status, message: message.to_string_lossy().into_owned() })
    }
}

/// Text as C sees it: a NUL, which would cut it, is left out.
fn c_string(text: &str) -> CString {
    CString::new(text.bytes().filter(|byte| *byte != 0).collect::<Vec<u8>>()).unwrap_or_default()
}

// ---- what `plugin!` is made of ----

/// The host's functions. Set by the launch, before any run; the table lives as long as the process.
static HOST: AtomicPtr<Api> = AtomicPtr::new(std::ptr::null_mut());

/// Serves a run: the boundary at which panics and errors end.
pub fn serve(handle: u64, handler: fn(&Task) -> Result<Outcome, Error>) -> i32 {
    let host = HOST.load(Ordering::Acquire);
    // SAFETY: the launch stored the table before the host could start a run, and the table is never freed.
    let task = match unsafe { host.as_ref() } {
        Some(host) => Task { host, handle },
        None => return Outcome::Failure as i32,
    };
    match catch_unwind(AssertUnwindSafe(|| handler(&task))) {
        Ok(Ok(outcome)) => outcome as i32,
        Ok(Err(error)) => {
            task.set_message(&error.message);
            Outcome::Retry as i32
        }
        Err(_) => {
            task.set_message("the handler panicked; what it said is in the host's log");
            Outcome::Failure as i32
        }
    }
}

/// Registers a handler.
///
/// # Safety
/// `api` is NULL or the host's table, as taskhost.h says; the texts end with a NUL.
pub unsafe fn register(api: *const Api, launch: u64, kind: &str, texts: [&'static str; 3], handler: Handler) -> Status {
    let host = match api.as_ref() {
        Some(host) => host,
        None => return EINVAL,
    };
    if host.abi_version < 1 || (host.struct_size as usize) < std::mem::size_of::<Api>() {
        return EUNSUPPORTED;
    }
    HOST.store(api as *mut Api, Ordering::Release);
    let registration = Registration {
        struct_size: std::mem::size_of::<Registration>() as u32,
        kind: match kind {
            "processing" => 2,
            "continued" => 3,
            _ => 1,
        },
        identifier: texts[0].as_ptr() as *const c_char,
        handler: Some(handler),
        context: std::ptr::null_mut(),
        display_name: texts[1].as_ptr() as *const c_char,
        version: texts[2].as_ptr() as *const c_char,
        budget_ms: 0,
        max_concurrent_runs: 0,
        reserved: 0,
        signature: std::ptr::null(),
        function: None,
    };
    (host.register_handler)(launch, &registration) // copied before it returns
}

/// The note: what the host knows of the file before it runs any of it.
#[repr(C, align(4))]
pub struct Note<const LENGTH: usize> {
    owner_bytes: u32,
    text_bytes: u32,
    kind: u32,
    owner: [u8; 12],
    text: [u8; LENGTH],
}

impl<const LENGTH: usize> Note<LENGTH> {
    /// A note of `text`, which has at most `LENGTH` bytes; `LENGTH` is a multiple of 4.
    pub const fn new(text: &str) -> Note<LENGTH> {
        let mut bytes = [0; LENGTH];
        let mut index = 0;
        while index < text.len() {
            bytes[index] = text.as_bytes()[index];
            index += 1;
        }
        Note { owner_bytes: 9, text_bytes: text.len() as u32, kind: 0x5448_0001, owner: *b"taskhost\0\0\0\0", text: bytes }
    }
}

/// Exports what the host looks for.
macro_rules! plugin {
    (identifier: $identifier:literal, kind: $kind:literal, version: $version:literal, display_name: $name:literal, handler: $handler:path $(,)?) => {
        const NOTE_TEXT: &str =
            concat!("format=1\nabi=1\nidentifier=", $identifier, "\nkind=", $kind, "\nbudget_ms=0\nversion=", $version, "\n");

        #[used]
        #[link_section = ".note.taskhost"]
        static NOTE: $crate::taskhost::Note<{ (NOTE_TEXT.len() + 3) / 4 * 4 }> = $crate::taskhost::Note::new(NOTE_TEXT);

        /// Read before anything is called.
        #[no_mangle]
        #[allow(non_upper_case_globals)]
        pub static taskhost_plugin_abi_version: u32 = 1;

        extern "C" fn serve_run(task: u64, _context: *mut std::os::raw::c_void) -> i32 {
            $crate::taskhost::serve(task, $handler)
        }

        /// Registers the handler.
        ///
        /// # Safety
        /// `api` is NULL or the host's table, as taskhost.h says.
        #[no_mangle]
        pub unsafe extern "C" fn taskhost_plugin_launch(api: *const $crate::taskhost::Api, launch: u64) -> i32 {
            let texts = [concat!($identifier, "\0"), concat!($name, "\0"), concat!($version, "\0")];
            $crate::taskhost::register(api, launch, $kind, texts, serve_run)
        }
    };
}

// ---- the layout of taskhost.h ----

pub type Handler = extern "C" fn(u64, *mut c_void) -> i32;
pub type ExpirationHandler = extern "C" fn(u64, i32, *mut c_void);
type Function = unsafe extern "C" fn();

#[repr(C)]
pub struct Registration {
    struct_size: u32,
    kind: i32,
    identifier: *const c_char,
    handler: Option<Handler>,
    context: *mut c_void,
    display_name: *const c_char,
    version: *const c_char,
    budget_ms: u64,
    max_concurrent_runs: u32,
    reserved: u32,
    signature: *const c_char,
    function: Option<Function>,
}

#[repr(C)]
pub struct Api {
    struct_size: u32,
    abi_version: u32,
    register_handler: unsafe extern "C" fn(u64, *const Registration) -> Status,
    configuration: unsafe extern "C" fn(u64) -> *const c_char,
    data_directory: unsafe extern "C" fn(u64) -> *const c_char,
    launch_submit: Function,
    launch_log: unsafe extern "C" fn(u64, i32, *const c_char) -> Status,
    payload: unsafe extern "C" fn(u64, *mut *const c_void, *mut usize) -> Status,
    identifier: unsafe extern "C" fn(u64) -> *const c_char,
    request_id: unsafe extern "C" fn(u64) -> *const c_char,
    attempt: unsafe extern "C" fn(u64) -> u32,
    remaining_ms: unsafe extern "C" fn(u64) -> i64,
    grace_ms: unsafe extern "C" fn(u64) -> i64,
    is_expired: unsafe extern "C" fn(u64) -> i32,
    stop_reason: unsafe extern "C" fn(u64) -> i32,
    expiration_fd: unsafe extern "C" fn(u64) -> c_int,
    set_expiration_handler: unsafe extern "C" fn(u64, Option<ExpirationHandler>, *mut c_void) -> Status,
    progress: unsafe extern "C" fn(u64, u64, u64) -> Status,
    log: unsafe extern "C" fn(u64, i32, *const c_char) -> Status,
    set_output: unsafe extern "C" fn(u64, *const c_void, usize) -> Status,
    set_message: unsafe extern "C" fn(u64, *const c_char) -> Status,
    retry_after: unsafe extern "C" fn(u64, u64) -> Status,
    now_unix_ms: unsafe extern "C" fn(u64) -> i64,
    sleep: unsafe extern "C" fn(u64, u64) -> Status,
    state_get: unsafe extern "C" fn(u64, *const c_char, *mut c_void, usize, *mut usize) -> Status,
    state_set: unsafe extern "C" fn(u64, *const c_char, *const c_void, usize) -> Status,
    checkpoint_get: unsafe extern "C" fn(u64, *mut c_void, usize, *mut usize) -> Status,
    checkpoint_set: unsafe extern "C" fn(u64, *const c_void, usize) -> Status,
    submit: Function,
    cancel: unsafe extern "C" fn(u64, *const c_char) -> Status,
    last_error: unsafe extern "C" fn() -> *const c_char,
    extension: unsafe extern "C" fn(*const c_char) -> *const c_void,
}

// SAFETY: the host's table is read-only memory.
unsafe impl Sync for Api {}

// The sizes that taskhost.h asserts.
const _: () = assert!(std::mem::size_of::<Registration>() == 80);
const _: () = assert!(std::mem::size_of::<Api>() == 248);
