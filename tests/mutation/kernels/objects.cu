// Classes: constructors, methods, operators, conversions, bases, members of every kind, lambdas in device code.
#include <cstdio>
#include <cuda_runtime.h>

struct Vec {
    float x, y;
    __device__ Vec() : x(0), y(1) {}
    __device__ Vec(float a, float b = 2.0f) : x(a), y(b) {}
    __device__ float dot(const Vec &o) const { return x * o.x + y * o.y; }
    __device__ Vec operator*(float s) const { return Vec(x * s, y * s); }
    __device__ Vec &operator+=(const Vec &o) {
        x += o.x;
        y += o.y;
        return *this;
    }
    __device__ float operator[](int k) const { return k ? y : x; }
    __device__ operator float() const { return x + y; }
    __device__ bool operator<(const Vec &o) const { return this->x < o.x; }
    static __device__ Vec unit(int axis) { return axis ? Vec(0, 1) : Vec(1, 0); }
};
__device__ Vec operator-(const Vec &a, const Vec &b) { return Vec(a.x - b.x, a.y - b.y); }

struct Counter {
    int steps = 3;
    int total;
    Vec at;
    __device__ explicit Counter(int first) : total(first), at(1.0f) { total += steps; }
    __device__ void step(int by = 2) { total += by * ++steps; }
};
struct Pair { int a[2]; float b; };
struct Outer { Pair p; double d; short s; };
struct Base { int k; __device__ int twice() const { return 2 * k; } };
struct Derived : Base { float m; };
struct Empty { __device__ float operator()(float v) const { return v * v; } };
struct Defaults { int a = 4; float b = 0.5f; };
struct Small { char c; double d; char e; };

__global__ void methods(float *out, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Vec v(x[i]), w = v * 3.0f, none;
    v += w;
    v += Vec(1, x[0]) * 0.5f;
    Counter c(i);
    c.step();
    c.step(5);
    Vec u = w - v, axis = Vec::unit(i & 1);
    Vec three = Vec{1.0f, 3.0f};
    const Vec &alias = u;
    out[i * 4] = v.dot(Vec(1, 2)) + none.y + three.y;
    out[i * 4 + 1] = w[i & 1] + (u < v ? 1.0f : 2.0f) + alias.dot(axis);
    out[i * 4 + 2] = (float)c.total + c.at.x * c.steps + float(u);
    out[i * 4 + 3] = Empty()(x[i]) + Empty{}(2.0f);
}

__global__ void nested(Outer *o, Outer by_value, Derived *d, Small *s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    o[i].p.a[1] += by_value.p.a[0];
    if (i & 1) o[i] = by_value;
    Pair p = {{1, i}, 3}, q = {{7}, 1.5f}, zero = {};
    if (i % 3 == 0) o[i].p = p;
    o[i].p.b += q.a[0] + q.a[1] + zero.b;
    d[i].k += 1;
    Derived local;
    local.k = 2 * i, local.m = 0.5f;
    if (i & 2) d[i] = local;
    d[i].m += d[i].twice();
    Base &base = d[i];
    base.k ^= 4;
    Defaults e, f{9};
    Outer *cursor = &o[i];
    cursor->d = e.a + e.b + f.a * f.b;
    (*cursor).s = (short)(s[i].c + s[i].e);
    s[i].d = cursor->d * 2, s[i].e = 'x';
    Outer copy = *cursor, *chosen = i & 1 ? &copy : cursor;
    chosen->s += 5;
    o[i].s += copy.s;
    Pair many[2] = {{{1, 2}, 0.5f}, {{3, 4}, 0.25f}};
    o[i].d += many[i & 1].b + many[1].a[i & 1];
}

__global__ void lambdas(int *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int s = 2, t = a[i];
    const int fixed = 5;
    auto add = [&](int x) { s += x; return s; };
    auto scaled = [=](int x) { return x * s + fixed; };
    auto named = [t, &s](int x) -> int { return x - t + s; };
    auto none = [](int x) { return x ^ 1; };
    a[i] = add(3) * 1000 + scaled(4) * 100 + named(i) + none(t);
}

__global__ void sizes(int *a, dim3 d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    dim3 e(2, 3), g = gridDim;
    uint3 t = threadIdx;
    int3 three = make_int3(i, 2, e.z);
    auto four = make_uchar4(1, 2, 3, i);
    double2 two = {0.5, 1.0 * i};
    a[i] = d.x * e.y + t.x + g.x * 100 + three.z + four.w + (int)two.y + warpSize + e.x + d.z;
}

int main() {
    const int n = 75, block = 32, grid = 3;
    float *x, *out;
    Outer *o, by_value = {{{6, 7}, 2.5f}, 1.25, 9};
    Derived *d;
    Small *s;
    int *a;
    cudaMallocManaged(&x, n * 4), cudaMallocManaged(&out, 4 * n * 4), cudaMallocManaged(&a, (n + 21) * 4);
    cudaMallocManaged(&o, n * sizeof(Outer)), cudaMallocManaged(&d, n * sizeof(Derived));
    cudaMallocManaged(&s, n * sizeof(Small));
    for (int i = 0; i < n; ++i) {
        x[i] = (i * 37 % 50 - 20) * 0.3f, a[i] = i * 7 % 11;
        o[i] = {{{i, 1}, 0.5f * i}, 0.1 * i, (short)i}, d[i].k = i, d[i].m = x[i], s[i] = {(char)i, 1.0, 'b'};
    }
    methods<<<grid, block>>>(out, x, n);
    nested<<<grid, block>>>(o, by_value, d, s, n);
    lambdas<<<grid, block>>>(a, n);
    sizes<<<grid, block>>>(a, dim3(4, 5, 6));
    cudaDeviceSynchronize();
    printf("objects %g %d\n", out[0], a[1]);
    return 0;
}
