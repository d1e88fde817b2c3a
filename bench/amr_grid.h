/* SPDX-License-Identifier: BSD-3-Clause */
/* The grid of amr.c: blocks that the surface of a moving ball refines, who has them, and the faces that they
 * send each other. Everybody makes the same grid; no message is sent here. */
#ifndef STARLING_BENCH_AMR_GRID_H
#define STARLING_BENCH_AMR_GRID_H

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kLevels = 3, kAxes = 3 };
enum kind { kSame, kCoarser, kFiner };
enum role { kSend, kReceive, kLocal, kRoles }; /* of this rank, with a piece */

struct leaf {
  int level, at[3], owner;
  unsigned long morton;
  double* cells; /* [variable][z][y][x], with one layer of neighbours' around; NULL: another rank's */
};
struct piece { /* one face, or a quarter, from one block to another */
  int from, to, axis, side;
  enum kind kind;
};
struct grid {
  struct leaf* leaves;
  int count;
  int* index[kLevels]; /* of the leaf at a place of a level; -1: none */
  struct piece* pieces;
  int piece_count;
  int *order, *begins; /* pieces by axis, role and other rank; where each such list begins */
};
static int roots[3] = {4, 4, 4}; /* blocks of the coarsest level */
static int me, ranks;

static void fail_with(const char* text) {
  fprintf(stderr, "amr: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
static void* allocate(size_t bytes) {
  void* const made = calloc(1, bytes == 0 ? 1 : bytes);
  if (made == NULL) fail_with("no memory");
  return made;
}

static int extent(int level, int axis) { return roots[axis] << level; }
static int place(int level, const int* at) {
  int wrapped[3];
  for (int a = 0; a < 3; ++a) wrapped[a] = (at[a] + extent(level, a)) % extent(level, a);
  return (wrapped[0] * extent(level, 1) + wrapped[1]) * extent(level, 2) + wrapped[2];
}
static size_t places(int level) {
  return (size_t)extent(level, 0) * (size_t)extent(level, 1) * (size_t)extent(level, 2);
}

/* Whether the ball's surface cuts a block. */
static int is_cut(int level, const int* at, double time) {
  const double centre[3] = {0.5 + 0.25 * (time - (int)time), 0.3 + 0.4 * (time - (int)time), 0.5},
               radius = 0.27;
  double nearest = 0, farthest = 0;
  for (int a = 0; a < 3; ++a) {
    const double low = (double)at[a] / extent(level, a), high = (double)(at[a] + 1) / extent(level, a);
    const double below = centre[a] - low, above = high - centre[a];
    const double near = below < 0 ? -below : above < 0 ? -above : 0, far = below > above ? below : above;
    nearest += near * near;
    farthest += far * far;
  }
  return nearest < radius * radius && farthest > radius * radius;
}

/* states: 1 a leaf, 2 refined, 0 not there. */
static void refine(unsigned char** states, int level, const int* at) {
  states[level][place(level, at)] = 2;
  for (int child = 0; child < 8; ++child) {
    const int there[3] = {at[0] * 2 + (child >> 2), at[1] * 2 + (child >> 1 & 1), at[2] * 2 + (child & 1)};
    states[level + 1][place(level + 1, there)] = 1;
  }
}

/* Neighbours of a leaf differ by one level at most. Returns whether something was refined. */
static int balance(unsigned char** states, int level, const int* at) {
  int changed = 0;
  for (int axis = 0; level >= 2 && axis < kAxes; ++axis)
    for (int step = -1; step <= 1; step += 2) {
      int there[3] = {at[0], at[1], at[2]}, above[3];
      there[axis] = (there[axis] + step + extent(level, axis)) % extent(level, axis);
      for (int a = 0; a < 3; ++a) above[a] = there[a] >> 2;
      if (states[level - 2][place(level - 2, above)] != 1) continue;
      refine(states, level - 2, above);
      changed = 1;
    }
  return changed;
}

/* Calls what(states, level, at) for each leaf of a level; returns whether any call did. */
static int each_leaf(unsigned char** states, int level, double time,
                     int (*what)(unsigned char**, int, const int*, double)) {
  int changed = 0, at[3];
  for (at[0] = 0; at[0] < extent(level, 0); ++at[0])
    for (at[1] = 0; at[1] < extent(level, 1); ++at[1])
      for (at[2] = 0; at[2] < extent(level, 2); ++at[2])
        if (states[level][place(level, at)] == 1) changed |= what(states, level, at, time);
  return changed;
}
static int refine_if_cut(unsigned char** states, int level, const int* at, double time) {
  if (is_cut(level, at, time)) refine(states, level, at);
  return 0;
}
static int balance_leaf(unsigned char** states, int level, const int* at, double time) {
  (void)time;
  return balance(states, level, at);
}

static unsigned long morton(int level, const int* at) {
  unsigned long code = 0;
  for (int bit = 0; bit < 16; ++bit)
    for (int a = 0; a < 3; ++a)
      code |= (unsigned long)(at[a] << (kLevels - 1 - level) >> bit & 1) << (3 * bit + 2 - a);
  return code;
}
static int by_morton(const void* a, const void* b) {
  const unsigned long x = ((const struct leaf*)a)->morton, y = ((const struct leaf*)b)->morton;
  return (x > y) - (x < y);
}

static void add_piece(struct grid* g, int from, int to, int axis, int side, enum kind kind) {
  g->pieces[g->piece_count++] = (struct piece){from, to, axis, side, kind};
}

/* The faces that a leaf sends along an axis. */
static void find_pieces(struct grid* g, int from, int axis) {
  const struct leaf* const leaf = &g->leaves[from];
  for (int side = 0; side < 2; ++side) {
    int there[3] = {leaf->at[0], leaf->at[1], leaf->at[2]}, above[3];
    there[axis] = (there[axis] + (side ? 1 : -1) + extent(leaf->level, axis)) % extent(leaf->level, axis);
    for (int a = 0; a < 3; ++a) above[a] = there[a] >> 1;
    const int same = g->index[leaf->level][place(leaf->level, there)];
    if (same >= 0) {
      add_piece(g, from, same, axis, side, kSame);
    } else if (leaf->level > 0 && g->index[leaf->level - 1][place(leaf->level - 1, above)] >= 0) {
      add_piece(g, from, g->index[leaf->level - 1][place(leaf->level - 1, above)], axis, side, kCoarser);
    } else {
      for (int quarter = 0; quarter < 4; ++quarter) {
        int child[3];
        for (int a = 0, bit = 0; a < 3; ++a)
          child[a] = there[a] * 2 + (a == axis ? !side : quarter >> bit++ & 1);
        add_piece(g, from, g->index[leaf->level + 1][place(leaf->level + 1, child)], axis, side, kFiner);
      }
    }
  }
}

/* The list of a piece; -1: it is none of this rank's. */
static int list_of(int axis, enum role role, int other) {
  return (axis * kRoles + (int)role) * ranks + other;
}
static int list_of_piece(const struct grid* g, const struct piece* p) {
  const int from = g->leaves[p->from].owner, to = g->leaves[p->to].owner;
  if (from != me && to != me) return -1;
  return list_of(p->axis, from == to ? kLocal : from == me ? kSend : kReceive, from == me ? to : from);
}

/* Both sides of a message have its faces in the order of the pieces. */
static void order_pieces(struct grid* g) {
  const int lists = kAxes * kRoles * ranks;
  int* const filled = allocate(((size_t)lists + 1) * sizeof(int));
  g->begins = allocate(((size_t)lists + 1) * sizeof(int));
  g->order = allocate((size_t)g->piece_count * sizeof(int));
  for (int n = 0; n < g->piece_count; ++n) {
    const int list = list_of_piece(g, &g->pieces[n]);
    if (list >= 0) ++g->begins[list + 1];
  }
  for (int list = 0; list < lists; ++list) g->begins[list + 1] += g->begins[list];
  for (int n = 0; n < g->piece_count; ++n) {
    const int list = list_of_piece(g, &g->pieces[n]);
    if (list >= 0) g->order[g->begins[list] + filled[list]++] = n;
  }
  free(filled);
}

static struct grid make_grid(double time) {
  unsigned char* states[kLevels];
  struct grid g = {0};
  for (int level = 0; level < kLevels; ++level) {
    states[level] = allocate(places(level));
    g.index[level] = allocate(places(level) * sizeof(int));
  }
  memset(states[0], 1, places(0));
  for (int level = 0; level + 1 < kLevels; ++level) each_leaf(states, level, time, refine_if_cut);
  while (each_leaf(states, kLevels - 1, time, balance_leaf)) {
  }
  for (int level = 0; level < kLevels; ++level)
    for (size_t at = 0; at < places(level); ++at) g.count += states[level][at] == 1;
  g.leaves = allocate((size_t)g.count * sizeof *g.leaves);
  g.count = 0;
  for (int level = 0; level < kLevels; ++level)
    for (size_t p = 0; p < places(level); ++p) {
      const int plane = extent(level, 1) * extent(level, 2), row = extent(level, 2), n = (int)p;
      const int at[3] = {n / plane, n / row % extent(level, 1), n % row};
      g.index[level][p] = -1;
      if (states[level][p] == 1)
        g.leaves[g.count++] = (struct leaf){level, {at[0], at[1], at[2]}, 0, morton(level, at), NULL};
    }
  qsort(g.leaves, (size_t)g.count, sizeof *g.leaves, by_morton);
  for (int i = 0; i < g.count; ++i) {
    g.leaves[i].owner = (int)((long)i * ranks / g.count);
    g.index[g.leaves[i].level][place(g.leaves[i].level, g.leaves[i].at)] = i;
  }
  g.pieces = allocate((size_t)g.count * 24 * sizeof *g.pieces);
  for (int axis = 0; axis < kAxes; ++axis)
    for (int i = 0; i < g.count; ++i) find_pieces(&g, i, axis);
  order_pieces(&g);
  for (int level = 0; level < kLevels; ++level) free(states[level]);
  return g;
}

static void free_grid(struct grid* g) {
  for (int i = 0; i < g->count; ++i) free(g->leaves[i].cells);
  for (int level = 0; level < kLevels; ++level) free(g->index[level]);
  free(g->leaves);
  free(g->pieces);
  free(g->order);
  free(g->begins);
}

#endif
