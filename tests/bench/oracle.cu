// What tests/bench/oracle.py measures: kernels of many barriers, timed by the program itself.
// One line of output a sample: name, passes of a barrier by a thread, CPU seconds.
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

__global__ void rotate(int *out, int rounds) {
  __shared__ int values[1024];
  const unsigned t = threadIdx.x, next = (t + 1) % blockDim.x;
  values[t] = t;
  __syncthreads();
  for (int r = 0; r < rounds; r++) {
    const int v = values[next];
    __syncthreads();
    values[t] = v;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + t] = values[t];
}

__global__ void tree(const float *x, float *sums, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int h = blockDim.x / 2; h > 0; h /= 2) {
    if (t < h) s[t] += s[t + h];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}

__global__ void product(const float *a, const float *b, float *c, int n) {
  __shared__ float s[16][16], t[16][16];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float total = 0;
  for (int q = 0; q < n / 16; q++) {
    s[y][x] = a[row * n + q * 16 + x];
    t[y][x] = b[(q * 16 + y) * n + column];
    __syncthreads();
    for (int p = 0; p < 16; p++) total += s[y][p] * t[p][x];
    __syncthreads();
  }
  c[row * n + column] = total;
}

static void fail(const char *name) {
  fprintf(stderr, "wrong result: %s\n", name);
  exit(1);
}

template <typename Run> void sample(const char *name, double passes, Run run) {
  const clock_t begin = clock();
  run();
  printf("%s\t%.0f\t%.6f\n", name, passes, double(clock() - begin) / CLOCKS_PER_SEC);
}

// The anchor: the C library's own switch between two stacks.
static ucontext_t host, other;
static void serve() {
  for (;;) swapcontext(&other, &host);
}

static void anchor(int rounds) {
  static char stack[64 << 10];
  getcontext(&other);
  other.uc_stack.ss_sp = stack, other.uc_stack.ss_size = sizeof stack, other.uc_link = nullptr;
  makecontext(&other, serve, 0);
  sample("swapcontext", 2.0 * rounds, [&] {
    for (int i = 0; i < rounds; i++) swapcontext(&host, &other);
  });
}

static void rotations(const char *name, int threads, int blocks, int rounds) {
  int *out;
  cudaMallocManaged(&out, sizeof(int) * threads * blocks);
  sample(name, (2.0 * rounds + 1) * threads * blocks, [&] { rotate<<<blocks, threads>>>(out, rounds); });
  for (int i = 0; i < threads * blocks; i++)
    if (out[i] != (i + rounds) % threads) fail(name);
  cudaFree(out);
}

static void reductions(int blocks) {
  float *x, *sums;
  const int n = blocks * 256 - 5;
  cudaMallocManaged(&x, sizeof(float) * n);
  cudaMallocManaged(&sums, sizeof(float) * blocks);
  for (int i = 0; i < n; i++) x[i] = i % 7;
  sample("tree", 9.0 * blocks * 256, [&] { tree<<<blocks, 256>>>(x, sums, n); });
  for (int b = 0; b < blocks; b++) {
    float sum = 0;
    for (int i = b * 256; i < b * 256 + 256 && i < n; i++) sum += x[i];
    if (sum != sums[b]) fail("tree");
  }
  cudaFree(x), cudaFree(sums);
}

static void products(int n) {
  float *a, *b, *c;
  for (float **p : {&a, &b, &c}) cudaMallocManaged(p, sizeof(float) * n * n);
  for (int i = 0; i < n * n; i++) a[i] = i % 5, b[i] = i % 3;
  const dim3 grid(n / 16, n / 16), block(16, 16);
  sample("product", 2.0 * (n / 16) * n * n, [&] { product<<<grid, block>>>(a, b, c, n); });
  for (int i = 0; i < n * n; i++) {
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[i / n * n + k] * b[k * n + i % n];
    if (sum != c[i]) fail("product");
  }
  cudaFree(a), cudaFree(b), cudaFree(c);
}

int main(int, char **arguments) {
  const int size = atoi(arguments[1]);  // about a million passes each
  for (int turn = 0; turn < 7; turn++) {
    anchor(200000 * size);
    rotations("rotate 256", 256, 8 * size, 256);
    rotations("rotate 1024", 1024, 2 * size, 256);
    reductions(512 * size);
    products(192 * (size > 1 ? 2 : 1));
  }
}
