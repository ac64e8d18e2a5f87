/* audit.c: an auditing library that takes part in every look-up of the dynamic loader.
 * Read next: ../own_programs.py.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>

unsigned int la_version(unsigned int version) {
  return version;
}

unsigned int la_objopen(struct link_map* map, Lmid_t list, uintptr_t* cookie) {
  return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
