/* tls_plugin.c: a plugin with large thread-local data, touched by every caller.
 * Read next: ../own_programs.py.
 * SPDX-License-Identifier: MIT */
static __thread char data[3000];

int touch_plugin(int value) {
  data[value % 3000] += 1;
  return data[value % 3000];
}
