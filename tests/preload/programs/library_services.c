/* library_services.c: services of the C library that allocate inside it, from four threads at once.
 * Read next: ../own_programs.py.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <iconv.h>
#include <locale.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void* use_services(void* unused) {
  for (int i = 0; i < 40; ++i) {
    struct addrinfo* found = NULL;
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
    if (getaddrinfo("127.0.0.1", "80", &hints, &found) == 0) freeaddrinfo(found);
    const iconv_t converter = iconv_open("UTF-16", "UTF-8");
    if (converter != (iconv_t)-1) iconv_close(converter);
    struct passwd entry;
    struct passwd* result;
    char buffer[4096];
    getpwnam_r("root", &entry, buffer, sizeof buffer, &result);
    void* const library = dlopen("libm.so.6", RTLD_NOW);
    if (library != NULL) dlclose(library);
    char* text = NULL;
    if (asprintf(&text, "%*d", 1000 + i, i) < 0 || strlen(text) < 1000) exit(1);
    free(text);
    locale_t locale = newlocale(LC_ALL_MASK, "C", NULL);
    if (locale != NULL) freelocale(locale);
    tzset();
    FILE* const file = fopen("/proc/self/status", "r");
    char* line = NULL;
    size_t capacity = 0;
    while (file != NULL && getline(&line, &capacity, file) > 0) continue;
    free(line);
    if (file != NULL) fclose(file);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, use_services, NULL);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  puts("ok");
  return 0;
}
