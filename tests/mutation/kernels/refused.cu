// What is refused, one construct a kernel: a rule that lets one of them pass must still give the right kernel.
#include <cstdio>
#include <cuda_runtime.h>

struct Bits { unsigned low : 4, high : 12; };
union Either { int i; float f; };
struct Virtual { int k; __device__ virtual int get() const { return k; } };
struct First { int a; };
struct Second { int b; };
struct Both : First, Second { int c; };
struct Ending { int *p; __device__ ~Ending() { *p += 5; } };
struct Built { int k; __device__ Built() : k(7) {} };
struct Based : First { int c; __device__ Based(int v) : c(v) { a = v + 1; } };
struct Unnamed { struct { int x, y; }; int z; };
int host_value = 4;

__device__ int again(int n) { return n < 2 ? n : again(n - 1) + n; }
__device__ int twice(int v) { return 2 * v; }
__device__ int thrice(int v) { return 3 * v; }
__device__ int through(int (*f)(int), int v) { return f(v); }

#define KERNEL(name) __global__ void name(int *a, int n)
#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return
#define FOR for (
#define EMPTY

KERNEL(jumping) {
    INDEX;
    if (a[i] > 3) goto end;
    a[i] += 2;
end:
    a[i] *= 3;
}
KERNEL(bit_fields) { INDEX; Bits b; b.low = a[i], b.high = 9; a[i] = b.low + b.high * 16; }
KERNEL(unions) { INDEX; Either e; e.f = a[i] * 0.5f; a[i] = e.i; }
KERNEL(virtuals) { INDEX; Virtual v; v.k = i; a[i] += v.get(); }
KERNEL(bases) { INDEX; Both b; b.a = i, b.b = 2 * i, b.c = 1; a[i] += b.a * b.b + b.c; }
KERNEL(destructors) { INDEX; { Ending e{a + i}; a[i] *= 2; } a[i] += 1; }
KERNEL(recursion) { INDEX; a[i] = again(i & 7); }
KERNEL(function_pointers) { INDEX; int (*f)(int) = i & 1 ? twice : thrice; a[i] = f(a[i]); }
KERNEL(function_arguments) { INDEX; a[i] = through(twice, a[i]); }
KERNEL(volatiles) { INDEX; volatile int *v = a; v[i] = v[i] + 1; }
KERNEL(host_variables) { INDEX; a[i] += ::abs(-i) + sizeof(host_value); }
KERNEL(constructed_arrays) { INDEX; Built b[3]; a[i] += b[i % 3].k; }
KERNEL(constructed_bases) { INDEX; Based b(i); a[i] = b.a * 3 + b.c; }
KERNEL(unnamed_members) { INDEX; Unnamed u; u.x = i, u.y = 2, u.z = 3; a[i] = u.x * u.y + u.z; }
KERNEL(masks) { INDEX; a[i] += __shfl_down_sync(0xffff, a[i], 1, 16); }
KERNEL(declared_conditions) { INDEX; if (int v = a[i] & 3) a[i] += v; while (int w = a[i] & 7) a[i] -= w; }
KERNEL(chosen_places) { INDEX; int x = 1, y = 2; (a[i] > 0 ? x : y) = a[i]; a[i] = x * 10 + y; }
KERNEL(case_ranges) { INDEX; switch (a[i]) { case 0 ... 4: a[i] = 1; break; default: a[i] = 2; } }
KERNEL(deep_cases) { INDEX; switch (a[i] & 1) { case 0: if (i > 3) { case 1: a[i] += 4; } a[i] += 2; } }
KERNEL(shared_cases) { INDEX; switch (a[i] & 1) { case 0: int t; t = 4; a[i] = t; break; case 1: t = 7; a[i] += t; } }
KERNEL(member_pointers) { INDEX; First f = {i}; int First::*m = &First::a; a[i] = f.*m; }
KERNEL(copies) { INDEX; int v = 7; memcpy(a + i, &v, sizeof v); }
KERNEL(allocations) { INDEX; int *p = (int *)malloc(8); if (p) { p[1] = i, a[i] = p[1]; free(p); } }
KERNEL(statics) { INDEX; static const int table[3] = {4, 5, 6}; a[i] += table[i % 3]; }
KERNEL(hidden_for) { INDEX; FOR EMPTY; i < n && a[i] < 5; ) a[i]++; }
KERNEL(designated) { INDEX; First f = {.a = i}; a[i] = f.a; }
KERNEL(assembly) { INDEX; int v = i; asm volatile("" : "+r"(v)); a[i] = v; }
KERNEL(long_doubles) { INDEX; long double d = a[i]; a[i] = (int)(d * 2); }
KERNEL(complete) { INDEX; a[i] += 2; }
template <class T> __global__ void never_launched(T *a) { a[threadIdx.x] += 1; }

int main() {
    const int n = 75, block = 32, grid = 3;
    int *a;
    cudaMallocManaged(&a, n * 4);
    for (int i = 0; i < n; ++i) a[i] = i * 7 % 19 - 4;
    void (*all[])(int *, int) = {complete};
    (void)all;
    bit_fields<<<grid, block>>>(a, n), unions<<<grid, block>>>(a, n), virtuals<<<grid, block>>>(a, n);
    bases<<<grid, block>>>(a, n), recursion<<<grid, block>>>(a, n), jumping<<<grid, block>>>(a, n);
    destructors<<<grid, block>>>(a, n), function_pointers<<<grid, block>>>(a, n);
    function_arguments<<<grid, block>>>(a, n), volatiles<<<grid, block>>>(a, n);
    host_variables<<<grid, block>>>(a, n), constructed_arrays<<<grid, block>>>(a, n);
    constructed_bases<<<grid, block>>>(a, n), unnamed_members<<<grid, block>>>(a, n);
    masks<<<grid, block>>>(a, 64), declared_conditions<<<grid, block>>>(a, n);
    chosen_places<<<grid, block>>>(a, n), case_ranges<<<grid, block>>>(a, n), deep_cases<<<grid, block>>>(a, n);
    shared_cases<<<grid, block>>>(a, n), member_pointers<<<grid, block>>>(a, n), copies<<<grid, block>>>(a, n);
    statics<<<grid, block>>>(a, n), hidden_for<<<grid, block>>>(a, n);
    designated<<<grid, block>>>(a, n), long_doubles<<<grid, block>>>(a, n);
    allocations<<<grid, block>>>(a, n), assembly<<<grid, block>>>(a, n);
    complete<<<grid, block>>>(a, n);
    cudaDeviceSynchronize();
    printf("refused %d\n", a[0]);
    return 0;
}
