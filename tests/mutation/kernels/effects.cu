// Effects inside expressions, and loops whose parts are unusual: what becomes statements, and in which order.
#include <cstdio>
#include <cuda_runtime.h>

#define REPEAT_ONCE(what) do { what; } while (0)
#define LIMIT (3 * 4)
#define BELOW -2
#define SAME LIMIT

__global__ void order(int *a, const int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int *to = a + 16 * i, k = 0, j = x[i];
    to[k++] = j--;
    to[++k] = k + j;
    k = j = j & 7;
    to[3] = k;
    to[4] += to[5] = j * 2;
    to[6] = (k++, j + k);
    to[7] = 1;
    to[j & 1 ? 8 : 9] = k++ + 1;
    to[10] = k > 4 ? to[2] : to[11];
    to[12] = (k -= 2) + (j ^= 3) * (to[3] = 5);
    int *p = to;
    *(p++, p) += 4;
    ((to[13] = j) += 2) *= 3;
    to[14] = k > 3 ? to[k++ & 3] : j--;
    to[15] = k * 100 + j + (i ? 1 : 0, 2);
}

__global__ void shorts(int *a, const int *x, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n && x[i] > -100) a[8 * i] = 1;
    if (i >= n) return;
    int *to = a + 8 * i, k = 0;
    if (x[i] < 0 || x[k++] > 3) to[1] = k;
    if (x[i] > 0 && x[++k] > 0) to[2] = k;
    x[i] > 5 && (to[3] = 9);
    x[i] > 0 || (to[4] = 8);
    x[i] & 1 ? (void)(to[5] = 3) : (void)k--;
    x[i] & 2 ? to[6]++ : to[7]--;
    if (!(x[i] > 2 && k)) to[6] += 4;
    bool both = x[i] > 0 && (k += 2) > 2;
    to[7] += both + k;
    REPEAT_ONCE(to[7] ^= 5);
    to[7] += SAME - BELOW * LIMIT;
}

__global__ void odd_loops(int *a, const int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int *to = a + 12 * i, sum = 0, k, m = x[i] & 15;
    for (k = 0; k < m; k++)
        if (x[k] > 20) break;
    to[0] = k;
    for (; k < 20;) {
        k++;
        if (k & 1) continue;
        sum += k;
    }
    for (k = 3;; k--) {
        if (k == -2) break;
        sum ^= k;
    }
    to[1] = sum;
    while (m-- > 0) sum += m;
    do {
        m += 2;
        if (m == 4) continue;
        sum += 2;
    } while (m++ < 10);
    to[2] = sum;
    for (int p = 0; p < m; p++) p += x[p & 7] & 1, sum++;
    for (int p = 0; p != m; p++) sum++;
    for (unsigned q = 0; q <= 5u; q++) sum += q;
    for (int p = 9; 4 < p; p -= 2) sum += p;
    for (int p = m; p >= 2; --p) sum -= p;
    for (int p = 2; p <= m; p += 3) sum -= 2 * p;
    to[3] = sum & 1023;
    for (int p = 0; p < to[3] % 7; p++) to[4] += p;
    for (int p = x[i] & 3; p < (x[i] & 7); p++) sum += p;
    for (int p = 0; p < m; p++) m -= p & 1, to[5]++;
    int r, c;
    for (r = 0; r < 3; r++)
        for (c = 0; c <= r; c++) to[6] += r * c;
    for (c = 1; c < 4; c++) to[7] += c;
    for (int p = 0; p < 6; p++) {
        if (p == 1) continue;
        for (int q = 0; q < 4; q++) {
            if (q == p) break;
            to[8]++;
        }
    }
    to[9] = m;
    for (long long p = 0; p < 3; ++p) to[10] += (int)p;
    int found = 0;
    for (int p = 0; !found && p < n; p += 5) found = x[p] > 8 ? p : 0;
    to[11] = found;
}

int main() {
    const int n = 75, block = 32, grid = 3;
    int *x, *a;
    cudaMallocManaged(&x, (n + 1) * 4), cudaMallocManaged(&a, 16 * n * 4);
    unsigned seed = 11;
    for (int i = 0; i <= n; ++i) seed = seed * 1664525u + 1013904223u, x[i] = (int)(seed >> 20) % 41 - 12;
    for (int i = 0; i < 16 * n; ++i) a[i] = i & 3;
    order<<<grid, block>>>(a, x, n);
    shorts<<<grid, block>>>(a, x, n);
    odd_loops<<<grid, block>>>(a, x, n);
    cudaDeviceSynchronize();
    printf("effects %d\n", a[0]);
    return 0;
}
