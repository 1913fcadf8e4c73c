/* libcurl, from the system (Debian: libcurl4-openssl-dev). */
#ifndef TASKHOST_CURL_SHIM_H
#define TASKHOST_CURL_SHIM_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* Swift cannot call variadic functions: one function for each type of argument. Each is called by the thread that uses the handle. */

static inline CURLcode taskhost_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

/* libcurl copies the text. */
static inline CURLcode taskhost_curl_set_text(CURL *handle, CURLoption option, const char *text) {
    return curl_easy_setopt(handle, option, text);
}

/* libcurl copies the bytes. */
static inline CURLcode taskhost_curl_set_blob(CURL *handle, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(handle, option, &blob);
}

/* libcurl copies the bytes. */
static inline CURLcode taskhost_curl_set_body(CURL *handle, const void *bytes, size_t count) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, (const char *)bytes) : code;
}

/* The list must live as long as the handle uses it. */
static inline CURLcode taskhost_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *list) {
    return curl_easy_setopt(handle, option, list);
}

/* At least CURL_ERROR_SIZE bytes, which must live as long as the handle. */
static inline CURLcode taskhost_curl_set_error_buffer(CURL *handle, char *buffer) {
    return curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, buffer);
}

/* Takes bytes of the head, a line at a time, or of the body; a result other than size * count ends the transfer. */
typedef size_t (*taskhost_curl_taker)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode taskhost_curl_set_takers(CURL *handle, taskhost_curl_taker head, taskhost_curl_taker body, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, head);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    return code;
}

static inline CURLcode taskhost_curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

/* A part of a file that is sent. */
struct taskhost_curl_upload {
    int descriptor;
    int error;        /* why it could not be read: errno, 0 if the file has become shorter; -1 if it could */
    int64_t start;    /* of the part in the file */
    int64_t size;     /* of the part */
    int64_t position; /* of the next byte in the part */
};

static inline size_t taskhost_curl_read(char *bytes, size_t size, size_t count, void *context) {
    struct taskhost_curl_upload *upload = context;
    int64_t left = upload->size - upload->position;
    size_t most = (uint64_t)left < size * count ? (size_t)left : size * count;
    if (most == 0) return 0;
    ssize_t taken;
    do taken = pread(upload->descriptor, bytes, most, upload->start + upload->position);
    while (taken < 0 && errno == EINTR);
    if (taken <= 0) {
        upload->error = taken < 0 ? errno : 0;
        return CURL_READFUNC_ABORT;
    }
    upload->position += taken;
    return (size_t)taken;
}

static inline int taskhost_curl_seek(void *context, curl_off_t offset, int origin) {
    struct taskhost_curl_upload *upload = context;
    if (origin != SEEK_SET || offset < 0 || offset > upload->size) return CURL_SEEKFUNC_FAIL;
    upload->position = offset;
    return CURL_SEEKFUNC_OK;
}

/* Sends a part of a file, which must stay open, as `upload` must live, as long as the handle uses it. */
static inline CURLcode taskhost_curl_set_upload(CURL *handle, struct taskhost_curl_upload *upload) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_READFUNCTION, taskhost_curl_read);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_READDATA, (void *)upload);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, taskhost_curl_seek);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_SEEKDATA, (void *)upload);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, (curl_off_t)upload->size);
    return code;
}

/* 0 when the handle does not know. */
static inline long taskhost_curl_get_long(CURL *handle, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

/* 0 when the handle does not know. */
static inline curl_off_t taskhost_curl_get_size(CURL *handle, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

/* NULL when the handle does not know. The text lives as long as the handle. */
static inline const char *taskhost_curl_get_text(CURL *handle, CURLINFO info) {
    char *text = NULL;
    return curl_easy_getinfo(handle, info, &text) == CURLE_OK ? text : NULL;
}

#endif
