/* One instantiation of the packed matrix product; tm_matrix.h includes this text once per element type.
 *
 * Parameters: TM_REAL (float or double) and TM_NAME(x), which makes a name of this instantiation.
 *
 * C is computed in tiles of up to TM_MATRIX_ROWS rows by TM_MATRIX_VECTORS vectors of columns, held in
 * registers over a block of the depth.  Every element is one chain of multiply-adds in the order of k, cut
 * only where blocks of the depth begin, and these follow from the depth alone: neither the tile that an
 * element falls in nor the number of threads changes a bit of it.
 */
#define TM_LANES ((int)(TM_MATRIX_BYTES / sizeof(TM_REAL)))
#define TM_DEPTH ((int64_t)(TM_MATRIX_DEPTH_BYTES / sizeof(TM_REAL)))
#define TM_VECTOR TM_NAME(tm_vector)
#define TM_VECTOR_ANYWHERE TM_NAME(tm_vector_anywhere)
#define TM_OPERAND TM_NAME(tm_operand)
#define TM_TARGET TM_NAME(tm_target)
#define TM_PRODUCT TM_NAME(tm_product)

typedef TM_REAL TM_VECTOR __attribute__((vector_size(TM_MATRIX_BYTES), may_alias));
typedef TM_REAL TM_VECTOR_ANYWHERE
    __attribute__((vector_size(TM_MATRIX_BYTES), aligned(sizeof(TM_REAL)), may_alias));

typedef struct {
  const TM_REAL *data;
  int64_t row_stride, column_stride; /* in elements */
} TM_OPERAND;

/* Where a tile's sums go: `columns` of them are stored to each row of c. */
typedef struct {
  TM_REAL *c;
  int64_t row_stride, column_stride, columns;
  TM_REAL alpha;
  int accumulate; /* 0: C is written without being read */
} TM_TARGET;

/* ---- the micro-kernel ---- */

/* Stores sums that end inside a vector, or whose columns are not adjacent in C. */
static __attribute__((noinline)) TM_WIDE void TM_NAME(tm_store_edge)(const TM_VECTOR *sums, int rows, int vectors,
                                                                     const TM_TARGET *target) {
  TM_FUSED
  const TM_REAL alpha = target->alpha;
  const int64_t stride = target->column_stride, columns = target->columns;
  for (int row = 0; row < rows; row++) {
    TM_REAL *c = target->c + row * target->row_stride;
    int64_t j = 0;
    for (; stride == 1 && j + TM_LANES <= columns; j += TM_LANES) {
      TM_VECTOR_ANYWHERE *place = (TM_VECTOR_ANYWHERE *)(c + j);
      TM_VECTOR sum = sums[row * vectors + j / TM_LANES];
      if (target->accumulate)
        *place += alpha * sum;
      else
        *place = alpha * sum;
    }
    const TM_REAL *sum = (const TM_REAL *)(sums + row * vectors);
    for (; j < columns; j++)
      if (target->accumulate)
        c[j * stride] += alpha * sum[j];
      else
        c[j * stride] = alpha * sum[j];
  }
}

/* rows x (vectors * TM_LANES) sums over `depth`.  `rows` and `vectors` are constants at every call, so that
 * the sums live in registers. */
static inline __attribute__((always_inline)) void TM_NAME(tm_tile)(const int rows, const int vectors,
                                                                   int64_t depth, TM_OPERAND a, const TM_REAL *b,
                                                                   int64_t b_row_stride, const TM_TARGET *target) {
  TM_FUSED
  TM_VECTOR sum[TM_MATRIX_ROWS][TM_MATRIX_VECTORS];
  TM_UNROLL for (int row = 0; row < rows; row++) {
    __builtin_prefetch(target->c + row * target->row_stride);
    TM_UNROLL for (int v = 0; v < vectors; v++) sum[row][v] = (TM_VECTOR){0};
  }
  const TM_REAL *left = a.data;
  for (int64_t k = 0; k < depth; k++) {
    TM_VECTOR right[TM_MATRIX_VECTORS];
    TM_UNROLL for (int v = 0; v < vectors; v++) right[v] = *(const TM_VECTOR_ANYWHERE *)(b + v * TM_LANES);
    TM_UNROLL for (int row = 0; row < rows; row++) {
      TM_REAL factor = left[row * a.row_stride];
      TM_UNROLL for (int v = 0; v < vectors; v++) sum[row][v] += factor * right[v];
    }
    left += a.column_stride;
    b += b_row_stride;
  }
  if (target->columns != vectors * TM_LANES || target->column_stride != 1) {
    TM_VECTOR kept[TM_MATRIX_ROWS * TM_MATRIX_VECTORS];
    TM_UNROLL for (int row = 0; row < rows; row++)
      TM_UNROLL for (int v = 0; v < vectors; v++) kept[row * vectors + v] = sum[row][v];
    TM_NAME(tm_store_edge)(kept, rows, vectors, target);
    return;
  }
  TM_REAL alpha = target->alpha;
  TM_UNROLL for (int row = 0; row < rows; row++) {
    TM_REAL *c = target->c + row * target->row_stride;
    TM_UNROLL for (int v = 0; v < vectors; v++) {
      TM_VECTOR_ANYWHERE *place = (TM_VECTOR_ANYWHERE *)(c + v * TM_LANES);
      if (target->accumulate)
        *place += alpha * sum[row][v];
      else
        *place = alpha * sum[row][v];
    }
  }
}

typedef void (*TM_NAME(tm_tile_function))(int64_t depth, TM_OPERAND a, const TM_REAL *b, int64_t b_row_stride,
                                          const TM_TARGET *target);

#define TM_TILE(rows, vectors)                                                                                \
  static TM_WIDE void TM_NAME(tm_tile_##rows##x##vectors)(int64_t depth, TM_OPERAND a, const TM_REAL *b,              \
                                                  int64_t b_row_stride, const TM_TARGET *target) {            \
    TM_NAME(tm_tile)(rows, vectors, depth, a, b, b_row_stride, target);                                       \
  }
#if TM_MATRIX_VECTORS == 3
#define TM_TILES(rows) TM_TILE(rows, 1) TM_TILE(rows, 2) TM_TILE(rows, 3)
#define TM_TILE_NAMES(rows) \
  {TM_NAME(tm_tile_##rows##x1), TM_NAME(tm_tile_##rows##x2), TM_NAME(tm_tile_##rows##x3)},
#else
#define TM_TILES(rows) TM_TILE(rows, 1) TM_TILE(rows, 2)
#define TM_TILE_NAMES(rows) {TM_NAME(tm_tile_##rows##x1), TM_NAME(tm_tile_##rows##x2)},
#endif
#if TM_MATRIX_ROWS == 8
#define TM_EACH_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)
#else
#define TM_EACH_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6)
#endif
TM_EACH_ROWS(TM_TILES)
static const TM_NAME(tm_tile_function) TM_NAME(tm_tiles)[TM_MATRIX_ROWS][TM_MATRIX_VECTORS] = {
    TM_EACH_ROWS(TM_TILE_NAMES)};

/* ---- packing ---- */

/* Interleaves the lower (or upper) halves of two vectors. */
#if TM_MATRIX_BYTES / TM_REAL_BYTES == 16
#define TM_LOWER 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define TM_UPPER 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif TM_MATRIX_BYTES / TM_REAL_BYTES == 8
#define TM_LOWER 0, 8, 1, 9, 2, 10, 3, 11
#define TM_UPPER 4, 12, 5, 13, 6, 14, 7, 15
#elif TM_MATRIX_BYTES / TM_REAL_BYTES == 4
#define TM_LOWER 0, 4, 1, 5
#define TM_UPPER 2, 6, 3, 7
#else
#define TM_LOWER 0, 2
#define TM_UPPER 1, 3
#endif
#if defined(__clang__)
#define TM_SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
typedef TM_INDEX TM_NAME(tm_mask) __attribute__((vector_size(TM_MATRIX_BYTES)));
#define TM_SHUFFLE(x, y, ...) __builtin_shuffle(x, y, (TM_NAME(tm_mask)){__VA_ARGS__})
#endif

/* to[i][j] = from[j][i] for a square of TM_LANES, of which `rows` rows are there to read and the others count
 * as 0.  Each pass of perfect shuffles interleaves row i with row i + TM_LANES / 2; after log2(TM_LANES)
 * passes the square is transposed. */
static TM_WIDE void TM_NAME(tm_transpose)(const TM_REAL *from, int64_t from_stride, int64_t rows, TM_REAL *to,
                                          int64_t to_stride) {
  TM_VECTOR row[TM_LANES], next[TM_LANES];
  TM_UNROLL for (int i = 0; i < TM_LANES; i++) {
    row[i] = (TM_VECTOR){0};
    if (i < rows) row[i] = *(const TM_VECTOR_ANYWHERE *)(from + i * from_stride);
  }
  TM_UNROLL for (int pass = 1; pass < TM_LANES; pass *= 2) {
    TM_UNROLL for (int i = 0; i < TM_LANES / 2; i++) {
      next[2 * i] = TM_SHUFFLE(row[i], row[i + TM_LANES / 2], TM_LOWER);
      next[2 * i + 1] = TM_SHUFFLE(row[i], row[i + TM_LANES / 2], TM_UPPER);
    }
    TM_UNROLL for (int i = 0; i < TM_LANES; i++) row[i] = next[i];
  }
  TM_UNROLL for (int i = 0; i < TM_LANES; i++) *(TM_VECTOR_ANYWHERE *)(to + i * to_stride) = row[i];
}

/* Packs `columns` <= TM_LANES columns of B into one vector per row of `to`; missing columns become 0. */
static TM_WIDE void TM_NAME(tm_pack_vector)(int64_t depth, TM_OPERAND b, int64_t columns, TM_REAL *to,
                                            int64_t width) {
  if (columns == TM_LANES && b.column_stride == 1) {
    for (int64_t k = 0; k < depth; k++)
      *(TM_VECTOR_ANYWHERE *)(to + k * width) = *(const TM_VECTOR_ANYWHERE *)(b.data + k * b.row_stride);
    return;
  }
  if (b.row_stride == 1 && depth >= TM_LANES) {
    for (int64_t k = 0; k < depth; k += TM_LANES) {
      int64_t from = tm_matrix_smaller(k, depth - TM_LANES); /* the last square may overlap the one before */
      TM_NAME(tm_transpose)(b.data + from, b.column_stride, columns, to + from * width, width);
    }
    return;
  }
  for (int64_t k = 0; k < depth; k++) {
    const TM_REAL *from = b.data + k * b.row_stride;
    TM_REAL *place = to + k * width;
    int64_t j = 0;
    *(TM_VECTOR_ANYWHERE *)place = (TM_VECTOR){0};
    for (; b.column_stride == 1 && j + 4 <= columns; j += 4)
      __builtin_memcpy(place + j, from + j, 4 * sizeof(TM_REAL));
    for (; j < columns; j++) place[j] = from[j * b.column_stride];
  }
}

/* ---- blocks ---- */

/* A product, and the block of B that is being worked on: `depth` rows from `first_k` on, and `columns`
 * columns from `first_column` on, covered by panels of whole vectors. */
typedef struct {
  int64_t m, n, k;
  TM_OPERAND a, b;
  TM_REAL *c;
  int64_t c_row_stride, c_column_stride;
  TM_REAL alpha, beta;
  int64_t first_k, depth, first_column, columns;
  tm_matrix_cut rows;   /* of C, into panels of at most TM_MATRIX_ROWS */
  tm_matrix_cut panels; /* of the block's vectors, into at most TM_MATRIX_VECTORS */
  tm_matrix_cut strips; /* of row panels, and */
  tm_matrix_cut groups; /* of column panels: together a unit of work */
  int direct;           /* whole panels are read from B itself, only a ragged last one is packed */
  int pack_rows;        /* row panels of A are packed */
  TM_REAL *packed;      /* panel after panel: depth rows of the panel's vectors */
} TM_PRODUCT;

static int TM_NAME(tm_is_direct)(const TM_PRODUCT *p, int64_t panel) {
  return p->direct && (panel < p->panels.count - 1 || p->columns % TM_LANES == 0);
}

static TM_REAL *TM_NAME(tm_packed_panel)(const TM_PRODUCT *p, int64_t panel) {
  return p->direct ? p->packed : p->packed + p->depth * TM_LANES * tm_matrix_begin(&p->panels, panel);
}

/* Packs panels begin..end of the block.  Where the rows of B lie adjacent they are read in strips, so that
 * neighbouring panels take their part of a row while it is in the cache. */
static void TM_NAME(tm_pack_panels)(void *data, int64_t begin, int64_t end) {
  const TM_PRODUCT *p = data;
  const int64_t strip = p->b.row_stride == 1 ? p->depth : 64;
  for (int64_t k = 0; k < p->depth; k += strip)
    for (int64_t panel = begin; panel < end; panel++) {
      int64_t first = tm_matrix_begin(&p->panels, panel), count = tm_matrix_size(&p->panels, panel);
      TM_REAL *to = TM_NAME(tm_packed_panel)(p, panel) + k * count * TM_LANES;
      for (int64_t v = 0; v < count; v++) {
        int64_t column = (first + v) * TM_LANES;
        TM_OPERAND b = p->b;
        b.data += (p->first_k + k) * b.row_stride + (p->first_column + column) * b.column_stride;
        TM_NAME(tm_pack_vector)(tm_matrix_smaller(strip, p->depth - k), b,
                                tm_matrix_smaller(TM_LANES, p->columns - column), to + v * TM_LANES,
                                count * TM_LANES);
      }
    }
}

/* Packs `depth` columns of a row panel as to[k][row], TM_MATRIX_ROWS apart; A has `readable` rows from here. */
static void TM_NAME(tm_pack_rows)(int64_t depth, TM_OPERAND a, int64_t rows, int64_t readable, TM_REAL *to) {
  if (a.row_stride == 1 && readable >= TM_MATRIX_ROWS) {
    for (int64_t k = 0; k < depth; k++)
      __builtin_memcpy(to + k * TM_MATRIX_ROWS, a.data + k * a.column_stride, TM_MATRIX_ROWS * sizeof(TM_REAL));
    return;
  }
  for (int64_t k = 0; k < depth; k++)
    for (int64_t i = 0; i < rows; i++)
      to[k * TM_MATRIX_ROWS + i] = a.data[k * a.column_stride + i * a.row_stride];
}

/* Packs row panels begin..end of A one after the other, a few columns at a time, so that neighbouring panels
 * take their part of a column while it is in the cache. */
static void TM_NAME(tm_pack_strip)(const TM_PRODUCT *p, int64_t begin, int64_t end, TM_REAL *to) {
  const int64_t step = 16;
  for (int64_t k = 0; k < p->depth; k += step)
    for (int64_t panel = begin; panel < end; panel++) {
      int64_t row = tm_matrix_begin(&p->rows, panel);
      TM_OPERAND a = p->a;
      a.data += row * a.row_stride + (p->first_k + k) * a.column_stride;
      TM_NAME(tm_pack_rows)(tm_matrix_smaller(step, p->depth - k), a, tm_matrix_size(&p->rows, panel), p->m - row,
                            to + ((panel - begin) * p->depth + k) * TM_MATRIX_ROWS);
    }
}

static void TM_NAME(tm_scale)(const TM_PRODUCT *p, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  for (int64_t i = row; i < row + rows; i++)
    for (int64_t j = column; j < column + columns; j++) {
      TM_REAL *c = p->c + i * p->c_row_stride + j * p->c_column_stride;
      *c = p->beta == 0 ? 0 : p->beta * *c;
    }
}

/* One row panel, whose part of A is `a`, times panels begin..end of the block. */
static void TM_NAME(tm_multiply_panels)(const TM_PRODUCT *p, int64_t row_panel, TM_OPERAND a, int64_t begin,
                                        int64_t end) {
  const int64_t row = tm_matrix_begin(&p->rows, row_panel), rows = tm_matrix_size(&p->rows, row_panel);
  for (int64_t panel = begin; panel < end; panel++) {
    int64_t first = tm_matrix_begin(&p->panels, panel) * TM_LANES, vectors = tm_matrix_size(&p->panels, panel);
    int64_t column = p->first_column + first;
    TM_TARGET target = {p->c + row * p->c_row_stride + column * p->c_column_stride,
                        p->c_row_stride,
                        p->c_column_stride,
                        tm_matrix_smaller(vectors * TM_LANES, p->columns - first),
                        p->alpha,
                        p->first_k > 0 || p->beta != 0};
    if (p->first_k == 0 && p->beta != 0 && p->beta != 1)
      TM_NAME(tm_scale)(p, row, rows, column, target.columns);
    const TM_REAL *b = TM_NAME(tm_packed_panel)(p, panel);
    int64_t b_row_stride = vectors * TM_LANES;
    if (TM_NAME(tm_is_direct)(p, panel)) {
      b = p->b.data + p->first_k * p->b.row_stride + column;
      b_row_stride = p->b.row_stride;
    }
    TM_NAME(tm_tiles)[rows - 1][vectors - 1](p->depth, a, b, b_row_stride, &target);
  }
}

/* Units begin..end of the block; a unit is one strip of row panels by one group of column panels. */
static void TM_NAME(tm_multiply_units)(void *data, int64_t begin, int64_t end) {
  const TM_PRODUCT *p = data;
  TM_REAL packed[TM_MATRIX_STRIP * TM_MATRIX_ROWS * TM_DEPTH];
  for (int64_t unit = begin; unit < end; unit++) {
    int64_t group = unit / p->strips.count, strip = unit % p->strips.count;
    int64_t first = tm_matrix_begin(&p->strips, strip), last = first + tm_matrix_size(&p->strips, strip);
    int64_t first_panel = tm_matrix_begin(&p->groups, group);
    if (p->pack_rows) TM_NAME(tm_pack_strip)(p, first, last, packed);
    for (int64_t row_panel = first; row_panel < last; row_panel++) {
      TM_OPERAND a = p->a;
      a.data += tm_matrix_begin(&p->rows, row_panel) * a.row_stride + p->first_k * a.column_stride;
      if (p->pack_rows)
        a = (TM_OPERAND){packed + (row_panel - first) * p->depth * TM_MATRIX_ROWS, 1, TM_MATRIX_ROWS};
      TM_NAME(tm_multiply_panels)(p, row_panel, a, first_panel, first_panel + tm_matrix_size(&p->groups, group));
    }
  }
}

static void TM_NAME(tm_spread)(const TM_PRODUCT *p, int64_t work, const tm_services *services, int64_t count,
                               void (*body)(void *, int64_t, int64_t)) {
  if (services && services->parallel && work >= TM_MATRIX_SERIAL_WORK && count > 1)
    services->parallel(services->context, count, body, (void *)p);
  else
    body((void *)p, 0, count);
}

/* Packs and multiplies one block. */
static void TM_NAME(tm_multiply_block)(const TM_PRODUCT *p, const tm_services *services) {
  int64_t work = p->depth * p->columns;
  if (!p->direct)
    TM_NAME(tm_spread)(p, work * TM_MATRIX_PACK_WORK, services, p->panels.count, TM_NAME(tm_pack_panels));
  else if (!TM_NAME(tm_is_direct)(p, p->panels.count - 1))
    TM_NAME(tm_pack_panels)((void *)p, p->panels.count - 1, p->panels.count);
  TM_NAME(tm_spread)(p, work * p->m, services, p->strips.count * p->groups.count, TM_NAME(tm_multiply_units));
}

/* Walks the blocks of B: by columns, and inside by depth. */
static void TM_NAME(tm_multiply)(TM_PRODUCT *p, TM_REAL *packed, int64_t block_vectors,
                                 const tm_services *services) {
  const int64_t all_vectors = (p->n + TM_LANES - 1) / TM_LANES;
  const tm_matrix_cut depths = tm_matrix_pieces(p->k, TM_DEPTH);
  const tm_matrix_cut blocks = tm_matrix_pieces(all_vectors, block_vectors);
  p->packed = packed;
  p->rows = tm_matrix_pieces(p->m, TM_MATRIX_ROWS);
  p->strips = tm_matrix_pieces(p->rows.count, TM_MATRIX_STRIP);
  for (int64_t block = 0; block < blocks.count; block++) {
    int64_t vectors = tm_matrix_size(&blocks, block);
    p->panels = tm_matrix_pieces(vectors, TM_MATRIX_VECTORS);
    p->first_column = tm_matrix_begin(&blocks, block) * TM_LANES;
    p->columns = tm_matrix_smaller(vectors * TM_LANES, p->n - p->first_column);
    /* Where there are few strips, threads share one by columns. */
    int64_t groups = tm_matrix_smaller(p->panels.count, 1 + 31 / p->strips.count);
    p->groups = tm_matrix_pieces(p->panels.count, (p->panels.count + groups - 1) / groups);
    for (int64_t piece = 0; piece < depths.count; piece++) {
      p->first_k = tm_matrix_begin(&depths, piece);
      p->depth = tm_matrix_size(&depths, piece);
      TM_NAME(tm_multiply_block)(p, services);
    }
  }
}

/* The same where there is no memory to pack into: blocks of a single vector, packed on the stack. */
static __attribute__((noinline)) void TM_NAME(tm_multiply_narrow)(TM_PRODUCT *p) {
  TM_VECTOR packed[TM_MATRIX_DEPTH_BYTES / sizeof(TM_REAL)];
  p->direct = 0;
  TM_NAME(tm_multiply)(p, (TM_REAL *)packed, 1, 0);
}

/* ---- the entry ---- */

TM_MATRIX_ENTRY void TM_NAME(tm_matmul)(int64_t m, int64_t n, int64_t k, const TM_REAL *a, int64_t a_row_stride,
                                        int64_t a_column_stride, const TM_REAL *b, int64_t b_row_stride,
                                        int64_t b_column_stride, TM_REAL *c, int64_t c_row_stride,
                                        int64_t c_column_stride, TM_REAL alpha, TM_REAL beta,
                                        const tm_services *services) {
  if (m <= 0 || n <= 0) return;
  TM_PRODUCT p = {.m = m, .n = n, .k = k, .a = {a, a_row_stride, a_column_stride},
                  .b = {b, b_row_stride, b_column_stride}, .c = c, .c_row_stride = c_row_stride,
                  .c_column_stride = c_column_stride, .alpha = alpha, .beta = beta};
  if (k <= 0 || alpha == 0) {
    if (beta != 1) TM_NAME(tm_scale)(&p, 0, m, 0, n);
    return;
  }
  /* transpose(C) = transpose(B) * transpose(A), where C lies by columns, and where C is narrow and vectors can
   * run along the columns of A instead. */
  const int narrow = 2 * n <= TM_LANES && m >= TM_LANES && a_row_stride == 1;
  if (narrow || (c_column_stride != 1 && c_row_stride == 1)) {
    p.m = n, p.n = m;
    p.a = (TM_OPERAND){b, b_column_stride, b_row_stride};
    p.b = (TM_OPERAND){a, a_column_stride, a_row_stride};
    p.c_row_stride = c_column_stride, p.c_column_stride = c_row_stride;
  }
  const int64_t depth = tm_matrix_smaller(p.k, TM_DEPTH);
  const int64_t vectors = (p.n + TM_LANES - 1) / TM_LANES;
  const int64_t spread = (p.k - 1) * (p.b.row_stride < 0 ? -p.b.row_stride : p.b.row_stride) + p.n;
  p.direct = p.b.column_stride == 1 && (p.m <= TM_MATRIX_DIRECT_ROWS ||
                                        spread * (int64_t)sizeof(TM_REAL) <= TM_MATRIX_DIRECT_BYTES);
  p.pack_rows = p.a.column_stride != 1 && vectors > TM_MATRIX_VECTORS &&
                !(p.a.row_stride == 1 && p.m * p.k * (int64_t)sizeof(TM_REAL) <= TM_MATRIX_DIRECT_BYTES);
  int64_t block_vectors = tm_matrix_smaller(vectors, TM_MATRIX_BLOCK_BYTES / (depth * TM_MATRIX_BYTES));
  if (p.direct) block_vectors = vectors;
  int64_t packed_vectors = p.direct ? tm_matrix_smaller(vectors, TM_MATRIX_VECTORS) : block_vectors;
  char *memory = malloc((size_t)(packed_vectors * depth * TM_MATRIX_BYTES) + TM_MATRIX_BYTES);
  if (!memory) {
    TM_NAME(tm_multiply_narrow)(&p);
    return;
  }
  uintptr_t aligned = ((uintptr_t)memory + TM_MATRIX_BYTES - 1) / TM_MATRIX_BYTES * TM_MATRIX_BYTES;
  TM_NAME(tm_multiply)(&p, (TM_REAL *)aligned, block_vectors, services);
  free(memory);
}

#undef TM_LANES
#undef TM_DEPTH
#undef TM_VECTOR
#undef TM_VECTOR_ANYWHERE
#undef TM_OPERAND
#undef TM_TARGET
#undef TM_PRODUCT
#undef TM_TILE
#undef TM_TILES
#undef TM_TILE_NAMES
#undef TM_EACH_ROWS
#undef TM_LOWER
#undef TM_UPPER
#undef TM_SHUFFLE
